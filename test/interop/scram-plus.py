"""Logs in to submission by SCRAM-SHA-256-PLUS with GNU SASL, and prints the last reply.

Arguments: port, user name, password, and `own` or `another`: the connection that the login is bound to.
"""
import base64
import ctypes
import socket
import sys

from OpenSSL import SSL

AUTHID, PASSWORD, CB_TLS_EXPORTER = 1, 3, 25
NEEDS_MORE = 1

port, username, password = int(sys.argv[1]), sys.argv[2], sys.argv[3]
context = SSL.Context(SSL.TLS_CLIENT_METHOD)
plain = socket.create_connection(("127.0.0.1", port), 30)
plain.setblocking(True)
connection = SSL.Connection(context, plain)
connection.set_connect_state()
connection.do_handshake()


def reply():
    text = b""
    while not text.endswith(b"\r\n") or text.rstrip(b"\r\n").split(b"\r\n")[-1][3:4] == b"-":
        text += connection.recv(4096)
    return text.decode()


def ask(line):
    connection.sendall(line.encode() + b"\r\n")
    return reply()


reply()
assert "SCRAM-SHA-256-PLUS" in ask("EHLO client.example")
# The value of RFC 9266 section 2.
binding = connection.export_keying_material(b"EXPORTER-Channel-Binding", 32)
if sys.argv[4] == "another":
    binding = bytes(32)

gsasl = ctypes.CDLL("libgsasl.so.18")
library, session, output = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
assert gsasl.gsasl_init(ctypes.byref(library)) == 0
assert gsasl.gsasl_client_start(library, b"SCRAM-SHA-256-PLUS", ctypes.byref(session)) == 0
for name, value in (
    (AUTHID, username.encode()),
    (PASSWORD, password.encode()),
    (CB_TLS_EXPORTER, base64.b64encode(binding)),
):
    gsasl.gsasl_property_set(session, name, value)

command, challenge = "AUTH SCRAM-SHA-256-PLUS ", b""
while True:
    result = gsasl.gsasl_step64(session, challenge, ctypes.byref(output))
    assert result in (0, NEEDS_MORE), result
    answer = ask(command + (output.value or b"").decode())
    command = ""
    if not answer.startswith("334"):
        break
    challenge = answer[4:].strip().encode()
print(answer.strip())
