"""A server that answers what a test tells it, one answer for each request."""

import json
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))

KEY = "svc_dev_0123456789abcdef"
SENT = (200, {}, {"id": "em_1", "status": "queued"})


def answer_bytes(answer):
    status, headers, body = answer
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(data)), "X-Request-Id": "req_1", **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value is not None)
    return f"HTTP/1.1 {status} x\r\n{lines}\r\n".encode() + data


def problem(status, type, headers=None):
    return (status, headers or {}, {"error": {"type": type, "message": f"It is {type}.", "requestId": "req_1"}})


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.time = time.monotonic()

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    """``answers`` are tuples of status, headers and body, or functions of (socket, request) that return True to keep the connection.

    The last answer is repeated.
    """

    def __init__(self, *answers, port=0, tls=None):
        self.answers = list(answers)
        self.tls = tls
        self.requests = []
        self.connections = 0
        self.open = 0
        self._lock = threading.Lock()
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", port), backlog=256)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Closing alone does not wake the thread that accepts, which would keep the port.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._sockets:
            sock.close()

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._sockets.append(sock)
                self.connections += 1
                self.open += 1
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            if self.tls is not None:
                sock = self.tls.wrap_socket(sock, server_side=True)
            file = sock.makefile("rb")
            while True:
                request = read_request(file)
                if request is None:
                    return
                with self._lock:
                    number = len(self.requests)
                    self.requests.append(request)
                answer = self.answers[min(number, len(self.answers) - 1)]
                if callable(answer):
                    if not answer(sock, request):
                        return
                else:
                    sock.sendall(answer_bytes(answer))
        except OSError:
            pass
        finally:
            try:
                # Closing alone would wait for the file that reads from the socket.
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()
            with self._lock:
                self.open -= 1

    def wait_until_closed(self, seconds=5):
        end = time.monotonic() + seconds
        while self.open and time.monotonic() < end:
            time.sleep(0.01)
        return self.open == 0


def read_request(file):
    line = file.readline()
    if not line:
        return None
    method, target, _ = line.decode().split(" ", 2)
    headers = {}
    while True:
        line = file.readline()
        if line in (b"\r\n", b""):
            break
        name, value = line.decode("latin-1").split(":", 1)
        headers[name.lower()] = value.strip()
    return Request(method, target, headers, file.read(int(headers.get("content-length", "0"))))
