"""
Receives what a service tells systemd: binds the socket of the first argument, and prints each message as a line, after
the id of the process that sent it. systemd hears the main process of a unit alone.
"""
import socket
import sys

receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
receiver.bind(sys.argv[1])
print("bound", flush=True)
while True:
    message, ancillary, _, _ = receiver.recvmsg(4096, socket.CMSG_SPACE(12))
    credentials = ancillary[0][2]
    print(int.from_bytes(credentials[:4], sys.byteorder), message.decode(), flush=True)
