import base64
import io
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from .support import KEY, SENT, Server, answer_bytes
from .test_transport import EMAIL, Case, client_of, cut_body, cut_chunk

from postrider import attachments

LARGE = """
import resource, sys, tempfile
sys.path.insert(0, {source!r})
from postrider import Client
email = dict(from_="a@x.test", to="b@x.test", subject="s", text="t", type="transactional")
kind = {kind!r}
data = bytes(range(256)) * (25 * 4096)
file = tempfile.TemporaryFile()
file.write(data)
file.seek(0)
if kind == "text":
    import base64
    content = base64.b64encode(data).decode()
    del data
elif kind == "bytes":
    content = data
else:
    del data
    content = file
client = Client({key!r}, {url!r})
client.emails.send(**email, attachments=[dict(filename="small.bin", content=b"x")])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import threading, os, time
def now():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
start, peak, stop = now(), [0], []
def watch():
    while not stop:
        peak[0] = max(peak[0], now())
        time.sleep(0.002)
thread = threading.Thread(target=watch)
thread.start()
client.emails.send(**email, attachments=[dict(filename="large.bin", content=content)])
stop.append(1)
thread.join()
held = 0 if kind == "file" else len(content)
print(peak[0] - start + held)
"""


class Attachments(Case):
    def send(self, content):
        with Server(SENT) as server, client_of(server) as client:
            client.emails.send(**EMAIL, attachments=[{"filename": "größe.bin", "content": content}, {"path": "https://x.test/a"}])
            sent = server.requests[0].json["attachments"]
            self.assertEqual((sent[0]["filename"], sent[1]), ("größe.bin", {"path": "https://x.test/a"}))
            return sent[0]["content"]

    def test_every_kind_of_content(self):
        data = os.urandom(500_000)
        expected = base64.b64encode(data).decode()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.bin")
            path.write_bytes(data)
            with open(path, "rb") as file:
                self.assertEqual(self.send(file), expected)
            with open(path, "rb", buffering=0) as file:
                self.assertEqual(self.send(file), expected)
            self.assertEqual(self.send(path), expected)
        for content in (data, bytearray(data), memoryview(data), io.BytesIO(data), iter([data[:1], b"", data[1:99_999], data[99_999:]]), expected):
            self.assertEqual(self.send(content), expected)

    def test_empty_files_and_all_remainders(self):
        for length in range(6):
            data = bytes(range(length))
            for content in (data, io.BytesIO(data), (data[i : i + 1] for i in range(length))):
                self.assertEqual(self.send(content), base64.b64encode(data).decode())

    def test_short_reads(self):
        class Trickle(io.RawIOBase):
            left = 1000

            def read(self, size=-1):
                part = b"a" * min(self.left, 7)
                self.left -= len(part)
                return part

        self.assertEqual(self.send(Trickle()), base64.b64encode(b"a" * 1000).decode())

    def test_text_is_sent_as_it_is(self):
        for text in ("aGk=", "\"\\\n\ud800ä" * 50_000, "not base64!"):
            self.assertEqual(self.send(text), text)

    def test_batches(self):
        with Server((200, {}, {"data": []})) as server, client_of(server) as client:
            mine = {"from": "a@x.test", "attachments": [{"filename": "a", "content": b"one"}, {"filename": "b", "content": io.BytesIO(b"two")}]}
            sent = client.emails.send_batch(emails=[mine, {"attachments": ({"content": b"three"},)}, {"subject": "none"}])
            contents = [[base64.b64decode(a["content"]) for a in email.get("attachments", [])] for email in server.requests[0].json["emails"]]
            self.assertEqual(contents, [[b"one", b"two"], [b"three"], []])
            self.assertTrue(sent.idempotency_key)
            # The caller's objects stay as they were.
            self.assertEqual(mine["attachments"][0]["content"], b"one")

    def test_a_stream_is_read_once_and_sent_by_every_try(self):
        with Server((503, {}, b""), SENT) as server, client_of(server) as client:
            client.emails.send(**EMAIL, attachments=[{"filename": "a", "content": io.BytesIO(b"once")}])
            first, second = [request.body for request in server.requests]
            self.assertEqual(first, second)
            self.assertIn(base64.b64encode(b"once"), second)

    def test_wrong_contents(self):
        with Server(SENT) as server, client_of(server) as client:
            for wrong in (io.StringIO("text"), 5, ["a"], {"a": 1}, iter(["text"])):
                error = self.fails("invalid_argument", client.emails.send, **EMAIL, attachments=[{"filename": "a", "content": wrong}])
                self.assertEqual(error.param, "attachments[0].content")
            self.assertEqual(server.requests, [])

    def test_an_error_of_the_file_is_the_callers(self):
        class Broken(io.RawIOBase):
            def read(self, size=-1):
                raise OSError("the disk is broken")

        with Server(SENT) as server, client_of(server) as client:
            with self.assertRaisesRegex(OSError, "disk"):
                client.emails.send(**EMAIL, attachments=[{"content": Broken()}])
            with self.assertRaises(FileNotFoundError):
                client.emails.send(**EMAIL, attachments=[{"content": pathlib.Path("/missing/file")}])
            self.assertEqual(server.requests, [])

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "needs the proc file system of Linux")
    def test_memory_of_25_mib_is_at_most_three_times_the_file(self):
        size = 25 * 1024 * 1024
        for kind in ("file", "bytes", "text"):
            with Server(SENT) as server:
                source = os.path.join(os.path.dirname(__file__), "..", "src")
                code = LARGE.format(source=source, url=server.url, key=KEY, kind=kind)
                peak = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
                print(f"25 MiB as {kind}: {peak / size:.2f} times the file", file=sys.stderr)
                self.assertLess(peak, 3 * size, kind)
                self.assertEqual(len(server.requests[1].json["attachments"][0]["content"]), (size + 2) // 3 * 4)

    def test_an_attachment_gives_a_try_more_time(self):
        seen = []
        with Server(SENT) as server, client_of(server, timeout=5) as client:
            client._max_retries = 0
            original = attachments.encode_json
            self.assertTrue(original)
            from postrider import requests

            encoded = requests.encode(client._address, client._key, requests.Request("POST", ("emails",), "json", body={"text": "x" * 1_000_000}), client._settings)
            seen.append(encoded.timeout)
        self.assertEqual(seen, [15])


class Streams(Case):
    BODY = bytes(range(256)) * 4000

    def chunked(self, sock, _request):
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/csv\r\n\r\n")
        for start in range(0, len(self.BODY), 100_000):
            part = self.BODY[start : start + 100_000]
            sock.sendall(b"%x\r\n%s\r\n" % (len(part), part))
        sock.sendall(b"0\r\n\r\n")
        return True

    def test_streams(self):
        for answer in ((200, {}, self.BODY), self.chunked):
            with Server(answer) as server, client_of(server) as client:
                self.assertEqual(client.emails.get_raw("em_1", recipient="a@x.test").read(), self.BODY)
                self.assertEqual(server.requests[0].target, "/v1/emails/em_1/raw?recipient=a%40x.test")
                with client.exports.get_file("exp_1") as stream:
                    self.assertEqual(b"".join(stream), self.BODY)
                stream = client.emails.get_attachment("em_1", 1)
                self.assertEqual((stream.read(10), stream.read(0), len(stream.read(300_000)), stream.read1(5)), (self.BODY[:10], b"", 300_000, self.BODY[300_010:300_015]))
                self.assertEqual((stream.read(), stream.read(), stream.read1()), (self.BODY[300_015:], b"", b""))
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "file")
                    self.assertEqual(client.exports.get_file("exp_1").save(path), len(self.BODY))
                    self.assertEqual(pathlib.Path(path).read_bytes(), self.BODY)
                # Each stream was read to its end, so its connection was used again.
                self.assertEqual(server.connections, 1)
                self.assertEqual(len(client._calls), 0)

    def test_lines_of_a_csv(self):
        import csv

        with Server((200, {"Content-Type": "text/csv"}, 'email,name\r\na@x.test,"Ä\nB"\r\n'.encode())) as server, client_of(server) as client:
            stream = client.exports.get_file("exp_1")
            self.assertEqual(stream.content_type, "text/csv")
            rows = list(csv.reader(io.TextIOWrapper(stream, "utf-8", newline="")))
            self.assertEqual(rows, [["email", "name"], ["a@x.test", "Ä\nB"]])

    def test_parts_come_as_they_arrive(self):
        def slow(sock, _request):
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
            sock.recv(1)

        with Server(slow) as server, client_of(server) as client:
            stream = client.exports.get_file("exp_1")
            self.assertEqual(next(stream), b"a")
            stream.close()
            self.assertTrue(server.wait_until_closed())
            self.assertRaises(ValueError, stream.read)

    def test_a_stream_has_the_time_of_a_try_between_two_parts(self):
        def slow(sock, _request):
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            for _ in range(5):
                time.sleep(0.15)
                sock.sendall(b"a")
            sock.recv(1)

        with Server(slow) as server, client_of(server, timeout=0.3, max_retries=0) as client:
            stream = client.exports.get_file("exp_1")
            self.assertEqual(b"".join(next(stream) for _ in range(5)), b"aaaaa")
            self.fails("timeout", stream.read)

    def test_a_short_stream_raises(self):
        for answer in (cut_body, cut_chunk):
            with Server(answer) as server, client_of(server) as client:
                self.fails("connection_error", client.exports.get_file("exp_1").read)
                self.assertEqual(len(server.requests), 1)

    def test_errors_and_closing(self):
        with Server((404, {}, {"error": {"type": "not_found", "message": "m"}})) as server, client_of(server) as client:
            self.fails("not_found", client.exports.get_file, "exp_1")
        with Server((200, {}, self.BODY)) as server, client_of(server) as client:
            stream = client.exports.get_file("exp_1")
            stream.read(10)
            client.close()
            self.fails("closed", stream.read)
            self.assertTrue(server.wait_until_closed())

    def test_a_forgotten_stream_gives_its_connection_back(self):
        with Server((200, {}, self.BODY * 20)) as server, client_of(server) as client:
            client.exports.get_file("exp_1")
            import gc

            gc.collect()
            self.assertTrue(server.wait_until_closed())
            self.assertEqual(len(client._calls), 0)
