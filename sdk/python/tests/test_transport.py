import io
import json
import os
import pickle
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import traceback
import unittest
from unittest import mock

from .support import KEY, SENT, Server, answer_bytes, problem

import postrider
from postrider import Cancellation, Client, PostriderError, retries, transport

EMAIL = {"from_": "a@x.test", "to": ["b@x.test"], "subject": "s", "text": "t", "type": "transactional"}


def client_of(server, **options):
    return Client(options.pop("key", KEY), server.url + options.pop("path", ""), **options)


class Case(unittest.TestCase):
    def setUp(self):
        quick = mock.patch.object(retries, "FIRST_PAUSE_SECONDS", 0.01)
        quick.start()
        self.addCleanup(quick.stop)

    def fails(self, code, function, /, *args, **kwargs):
        error = None
        try:
            function(*args, **kwargs)
        except PostriderError as caught:
            error = caught
        self.assertIsNotNone(error, "nothing was raised")
        self.assertEqual(error.type, code, error)
        return error


def close(_sock, _request):
    return False


def cut_head(sock, _request):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: app")


def cut_body(sock, _request):
    sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"id":')


def cut_chunk(sock, _request):
    sock.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"id":')


def hang(sock, _request):
    sock.recv(1)


class Wire(Case):
    def test_request_and_answer(self):
        with Server((200, {}, {"id": "em_1", "status": "queued", "newField": 1})) as server, client_of(server, path="/proxy/") as client:
            sent = client.emails.send(**EMAIL, reply_to="r@x.test", templateId="tpl_1")
            request = server.requests[0]
            self.assertEqual((request.method, request.target), ("POST", "/proxy/v1/emails"))
            self.assertEqual(request.headers["authorization"], f"Bearer {KEY}")
            self.assertEqual(request.headers["user-agent"], f"postrider-python/{postrider.__version__}")
            self.assertEqual(request.headers["accept-encoding"], "identity")
            self.assertEqual(request.headers["content-type"], "application/json")
            expected = {"from": "a@x.test", "to": ["b@x.test"], "subject": "s", "text": "t", "type": "transactional"}
            self.assertEqual(request.json, {**expected, "replyTo": "r@x.test", "templateId": "tpl_1"})
            self.assertEqual((sent.id, sent["status"], sent.new_field), ("em_1", "queued", 1))
            self.assertEqual(sent.idempotency_key, request.headers["idempotency-key"])
            self.assertRaises(AttributeError, lambda: sent.missing)
            self.assertIn("new_field", dir(sent))

    def test_paths_are_encoded_and_empty_ones_refused(self):
        with Server((200, {}, {})) as server, client_of(server) as client:
            client.contacts.get("aud_1", "a/b?c@x.test")
            client.contacts.get("aud_1", "ä")
            self.assertEqual(server.requests[0].target, "/v1/audiences/aud_1/contacts/a%2Fb%3Fc%40x.test")
            self.assertEqual(server.requests[1].target, "/v1/audiences/aud_1/contacts/%C3%A4")
            for wrong in ("", ".", "..", None, True, b"x", "\ud800"):
                self.fails("invalid_argument", client.emails.get, wrong)
            self.assertEqual(len(server.requests), 2)

    def test_queries(self):
        from datetime import datetime, timezone

        with Server((200, {}, {"data": [], "hasMore": False, "nextCursor": None})) as server, client_of(server) as client:
            client.emails.list(limit=5, from_="a b@x.test", created_after=datetime(2026, 1, 2, tzinfo=timezone.utc), status=None)
            client.contacts.list("aud_1", unsubscribed=True)
            self.assertEqual(server.requests[0].target, "/v1/emails?limit=5&from=a%20b%40x.test&createdAfter=2026-01-02T00%3A00%3A00%2B00%3A00")
            self.assertEqual(server.requests[1].target, "/v1/audiences/aud_1/contacts?unsubscribed=true")
            self.fails("invalid_argument", client.emails.list, created_after=datetime(2026, 1, 2))
            self.fails("invalid_argument", client.emails.list, status=["a"])
            self.fails("invalid_argument", client.emails.list, from_="\udc00")

    def test_null_absent_and_optional_bodies(self):
        with Server((200, {}, {})) as server, client_of(server) as client:
            client.domains.update("dom_1", tracking_subdomain=None)
            client.webhooks.rotate_secret("wh_1")
            client.webhooks.rotate_secret("wh_1", overlap_seconds=60)
            self.assertEqual(server.requests[0].json, {"trackingSubdomain": None})
            self.assertEqual((server.requests[1].body, server.requests[1].headers.get("content-type")), (b"", None))
            self.assertEqual(server.requests[2].json, {"overlapSeconds": 60})

    def test_text_that_is_not_ascii_and_lone_surrogates(self):
        with Server(SENT) as server, client_of(server) as client:
            client.emails.send(**{**EMAIL, "subject": "Grüße \U0001f600 \ud800"})
            self.assertIn("Grüße \U0001f600 \\ud800".encode(), server.requests[0].body)
            self.assertEqual(server.requests[0].json["subject"], "Grüße \U0001f600 \ud800")
            for wrong in (float("nan"), {1, 2}, object()):
                self.fails("invalid_argument", client.emails.send, **EMAIL, variables={"x": wrong})
            self.assertEqual(len(server.requests), 1)

    def test_redirects_are_not_followed(self):
        with Server((302, {"Location": "http://127.0.0.1:1/"}, b"")) as server, client_of(server) as client:
            error = self.fails("invalid_response", client.plan.get)
            self.assertEqual((error.status, len(server.requests)), (302, 1))

    def test_uploads(self):
        with Server((202, {}, {"id": "imp_1"})) as server, client_of(server) as client:
            for file in ("email\nä@x.test\n", "email\nä@x.test\n".encode(), io.BytesIO("email\nä@x.test\n".encode())):
                client.contacts.import_csv("aud_1", file, on_conflict="skip")
                request = server.requests[-1]
                self.assertEqual(request.target, "/v1/audiences/aud_1/contacts/imports?onConflict=skip")
                self.assertEqual((request.headers["content-type"], request.body), ("text/csv", "email\nä@x.test\n".encode()))
            client.contacts.import_csv("aud_1", b"")
            self.assertEqual(server.requests[-1].headers["content-length"], "0")
            self.fails("invalid_argument", client.contacts.import_csv, "aud_1", io.StringIO("email"))
            self.fails("invalid_argument", client.contacts.import_csv, "aud_1", "\ud800")


class Repeats(Case):
    def test_send_is_repeated_with_one_key(self):
        answers = [problem(503, "unavailable"), close, cut_head, cut_body, cut_chunk, (502, {}, b"<html>"), problem(408, "request_timeout")]
        answers += [problem(409, "idempotency_in_progress"), problem(429, "rate_limited"), SENT]
        with Server(*answers) as server, client_of(server, max_retries=9) as client:
            sent = client.emails.send(**EMAIL)
            keys = {request.headers["idempotency-key"] for request in server.requests}
            self.assertEqual((len(server.requests), keys), (10, {sent.idempotency_key}))

    def test_two_repeats_by_default_and_the_error_has_the_key(self):
        with Server(problem(500, "internal_error")) as server, client_of(server) as client:
            error = self.fails("internal_error", client.emails.send, **EMAIL)
            self.assertEqual(error.idempotency_key, server.requests[2].headers["idempotency-key"])
            self.assertEqual((error.status, error.request_id, len(server.requests)), (500, "req_1", 3))
            self.fails("internal_error", client.emails.send, **EMAIL, options={"idempotency_key": "mine"})
            self.assertEqual(server.requests[-1].headers["idempotency-key"], "mine")

    def test_other_posts_are_repeated_only_when_they_did_nothing(self):
        for answer in (problem(500, "internal_error"), close, cut_head, cut_body, (502, {}, b"x"), (503, {}, b"x"), problem(408, "request_timeout")):
            with Server(answer) as server, client_of(server) as client:
                self.assertRaises(PostriderError, client.domains.create, name="x.test")
                self.assertEqual(len(server.requests), 1, answer)
        for answer in (problem(429, "rate_limited"), problem(503, "unavailable")):
            with Server(answer, (201, {}, {"id": "dom_1"})) as server, client_of(server) as client:
                self.assertEqual(client.domains.create(name="x.test").id, "dom_1")
                self.assertEqual(len(server.requests), 2)

    def test_refused_connection_is_repeated_for_every_operation(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with Client(KEY, f"http://127.0.0.1:{port}") as client:
            with mock.patch.object(transport.Pool, "_connect", autospec=True, side_effect=transport.Pool._connect) as connect:
                error = self.fails("connection_error", client.domains.create, name="x.test")
            self.assertEqual((connect.call_count, error.status), (3, None))
            self.assertIsInstance(error.cause, ConnectionRefusedError)

    def test_what_is_not_repeated(self):
        for answer in (problem(429, "quota_exceeded"), problem(409, "idempotency_conflict"), problem(400, "validation_error"), (200, {}, b"<html>"), (200, {}, b"")):
            with Server(answer) as server, client_of(server) as client:
                self.assertRaises(PostriderError, client.emails.send, **EMAIL)
                self.assertEqual(len(server.requests), 1, answer)

    def test_deleted_by_an_earlier_try(self):
        with Server(close, problem(404, "not_found")) as server, client_of(server) as client:
            self.assertIsNone(client.topics.delete("top_1"))
            self.assertEqual(self.fails("not_found", client.topics.delete, "top_1").status, 404)
            self.assertEqual(len(server.requests), 3)

    def test_a_404_of_a_proxy_is_no_sign_of_an_earlier_delete(self):
        with Server((502, {}, b"<html>"), (404, {}, b"<html>")) as server, client_of(server) as client:
            self.assertEqual(self.fails("http_error", client.topics.delete, "top_1").status, 404)

    def test_an_error_that_is_cut_off_is_a_lost_answer(self):
        def cut_error(sock, _request):
            sock.sendall(b'HTTP/1.1 404 x\r\nContent-Length: 100\r\n\r\n{"error":')

        with Server(cut_error) as server, client_of(server) as client:
            self.assertEqual(self.fails("connection_error", client.plan.get).status, 404)
            self.assertEqual(len(server.requests), 3)
            self.fails("connection_error", client.domains.create, name="x.test")
            self.assertEqual(len(server.requests), 4)

    def test_retry_after(self):
        with Server(problem(429, "rate_limited", {"Retry-After": "1"}), SENT) as server, client_of(server) as client:
            client.emails.send(**EMAIL)
            self.assertGreaterEqual(server.requests[1].time - server.requests[0].time, 1)
        with Server(problem(429, "rate_limited", {"Retry-After": "31"})) as server, client_of(server) as client:
            self.assertEqual(self.fails("rate_limited", client.emails.send, **EMAIL).retry_after, 31)
            self.assertEqual(len(server.requests), 1)
        for value in ("-5", "soon", "Mon, 02 Jan 2006 15:04:05 GMT", "1.5", "²", "Mon, 99 Foo 2026 99:99:99 GMT"):
            with Server(problem(429, "rate_limited", {"Retry-After": value}), SENT) as server, client_of(server) as client:
                client.emails.send(**EMAIL)
            with Server(problem(429, "rate_limited", {"Retry-After": value})) as server, client_of(server, max_retries=0) as client:
                self.assertIsNone(self.fails("rate_limited", client.plan.get).retry_after, value)
        # The date is compared with that of the answer, so that a clock that is wrong by minutes does not matter.
        dates = {"Date": "Mon, 02 Jan 2006 15:04:05 GMT", "Retry-After": "Mon, 02 Jan 2006 15:14:05 GMT"}
        with Server(problem(503, "unavailable", dates)) as server, client_of(server) as client:
            self.assertEqual(self.fails("unavailable", client.emails.send, **EMAIL).retry_after, 600)

    def test_pauses_double(self):
        pauses = []
        with mock.patch.object(retries, "FIRST_PAUSE_SECONDS", 0.5), mock.patch.object(transport.Call, "wait", lambda _call, seconds: pauses.append(seconds)):
            with Server(problem(500, "internal_error")) as server, client_of(server, max_retries=3) as client:
                self.fails("internal_error", client.plan.get)
        for n, pause in enumerate(pauses):
            self.assertTrue(0.25 * 2**n <= pause <= 0.5 * 2**n, pauses)
        self.assertEqual(len(pauses), 3)


class Connections(Case):
    def test_one_connection_for_calls_in_a_row(self):
        with Server(SENT) as server, client_of(server) as client:
            for _ in range(50):
                client.emails.send(**EMAIL)
            self.assertEqual(server.connections, 1)
            client.close()
            self.assertTrue(server.wait_until_closed())
            self.fails("closed", client.emails.send, **EMAIL)

    def test_errors_keep_the_connection(self):
        with Server(problem(404, "not_found")) as server, client_of(server) as client:
            for _ in range(3):
                self.fails("not_found", client.emails.get, "em_1")
            self.assertEqual(server.connections, 1)

    def test_connection_that_the_server_closed_is_replaced(self):
        def once(sock, _request):
            sock.sendall(answer_bytes(SENT))

        with Server(once) as server, client_of(server, max_retries=0) as client:
            for _ in range(3):
                client.emails.send(**EMAIL)
                time.sleep(0.05)
            self.assertEqual((server.connections, len(server.requests)), (3, 3))

    def test_kept_connection_that_dies_is_replaced_without_using_up_a_repeat(self):
        with Server(SENT, close, SENT) as server, client_of(server, max_retries=0) as client:
            client.emails.send(**EMAIL)
            client.emails.send(**EMAIL)
            self.assertEqual((server.connections, len(server.requests)), (2, 3))
        with Server((201, {}, {"id": "x"}), close) as server, client_of(server) as client:
            client.domains.create(name="x.test")
            self.fails("connection_error", client.domains.create, name="x.test")
            self.assertEqual(len(server.requests), 2)

    def test_connections_are_idle_for_60_seconds_at_most(self):
        with Server(SENT) as server, client_of(server) as client:
            client.emails.send(**EMAIL)
            with mock.patch.object(transport, "MAX_IDLE_SECONDS", 0.0):
                time.sleep(0.01)
                client.emails.send(**EMAIL)
            self.assertEqual(server.connections, 2)

    def test_unasked_bytes_do_not_become_an_answer(self):
        def twice(sock, _request):
            sock.sendall(answer_bytes(SENT))
            sock.sendall(answer_bytes((200, {}, {"id": "em_other", "status": "queued"})))
            return True

        with Server(twice) as server, client_of(server) as client:
            client.emails.send(**EMAIL)
            time.sleep(0.05)
            self.assertEqual(client.emails.send(**EMAIL).id, "em_1")

    def test_fifty_threads(self):
        def slow(sock, request):
            time.sleep(0.002)
            sock.sendall(answer_bytes((200, {}, {"id": request.json["subject"], "status": "queued"})))
            return True

        with Server(slow) as server, client_of(server) as client:
            problems = []

            def work(number):
                for n in range(20):
                    name = f"{number}-{n}"
                    if client.emails.send(**{**EMAIL, "subject": name}).id != name:
                        problems.append(name)

            threads = [threading.Thread(target=work, args=(number,)) for number in range(50)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((problems, len(server.requests)), ([], 1000))
            self.assertLessEqual(server.connections, 50)
            client.close()
            self.assertTrue(server.wait_until_closed())

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_forked_child_has_connections_of_its_own(self):
        with Server(SENT) as server, client_of(server) as client:
            client.emails.send(**EMAIL)
            # A child that is forked while another thread holds the lock of the pool must not wait for it.
            client._pool._lock.acquire()
            child = os.fork()
            if child == 0:
                try:
                    ok = client.emails.send(**EMAIL).id == "em_1"
                    client.close()
                    os._exit(0 if ok else 1)
                except BaseException:
                    os._exit(2)
            client._pool._lock.release()
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            client.emails.send(**EMAIL)
            self.assertEqual((server.connections, len(server.requests)), (2, 3))

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_close_ends_connections_that_a_forked_child_holds(self):
        read, write = os.pipe()
        with Server(SENT) as server, client_of(server) as client:
            client.emails.send(**EMAIL)
            child = os.fork()
            if child == 0:
                os.close(write)
                os.read(read, 1)
                os._exit(0)
            client.close()
            closed = server.wait_until_closed(2)
            os.write(write, b"x")
            os.waitpid(child, 0)
            self.assertTrue(closed)

    def test_daemon_that_restarts_during_sends(self):
        first = Server(SENT)
        port = first.port
        with Client(KEY, f"http://127.0.0.1:{port}", max_retries=5) as client:
            client.emails.send(**EMAIL)
            first.__exit__()
            again = []

            def restart():
                time.sleep(0.05)
                again.append(Server(SENT, port=port))

            with mock.patch.object(retries, "FIRST_PAUSE_SECONDS", 0.05):
                thread = threading.Thread(target=restart)
                thread.start()
                self.assertEqual(client.emails.send(**EMAIL).id, "em_1")
                thread.join()
            again[0].__exit__()


@unittest.skipUnless(shutil.which("openssl"), "needs openssl, which makes the certificate")
class Tls(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.key, cls.certificate = os.path.join(cls.folder, "key.pem"), os.path.join(cls.folder, "certificate.pem")
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", cls.key, "-out", cls.certificate]
        subprocess.run(command, check=True, capture_output=True)

    def serve(self, *answers):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        server = Server(*answers, tls=context)
        return server, server.url.replace("http://127.0.0.1", "https://localhost")

    def test_sends_streams_and_closing(self):
        server, url = self.serve(SENT, SENT, (200, {}, b"x" * 300_000), hang)
        with server, Client("svc_prd_live", url, ssl_context=ssl.create_default_context(cafile=self.certificate)) as client:
            client.emails.send(**EMAIL)
            client.emails.send(**EMAIL, attachments=[{"content": b"y" * 2_000_000}])
            self.assertEqual(len(client.exports.get_file("exp_1").read()), 300_000)
            self.assertEqual(server.connections, 1)
            cancellation = Cancellation()
            threading.Timer(0.2, cancellation.cancel).start()
            self.fails("canceled", client.plan.get, options={"cancellation": cancellation})
            self.assertTrue(server.wait_until_closed())

    def test_a_certificate_that_is_not_trusted_is_not_tried_again(self):
        server, url = self.serve(SENT)
        with server, Client(KEY, url) as client:
            error = self.fails("connection_error", client.emails.send, **EMAIL)
            self.assertIsInstance(error.cause, ssl.SSLCertVerificationError)
            self.assertEqual((server.connections, server.requests), (1, []))
        server, url = self.serve(SENT)
        with server, Client(KEY, url.replace("localhost", "127.0.0.1"), ssl_context=ssl.create_default_context(cafile=self.certificate)) as client:
            self.fails("connection_error", client.emails.send, **EMAIL)

    def test_a_handshake_without_an_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"https://localhost:{listener.getsockname()[1]}"
            with Client(KEY, url, timeout=0.2, max_retries=0) as client:
                self.fails("timeout", client.plan.get)
            with Client(KEY, url) as client:
                threading.Timer(0.2, client.close).start()
                started = time.monotonic()
                self.fails("closed", client.plan.get)
                self.assertLess(time.monotonic() - started, 2)


    def test_an_interim_answer_is_not_the_answer(self):
        def hints(sock, request):
            early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
            sock.sendall(early + early + answer_bytes((200, {}, {"id": request.target})))
            return True

        with Server(hints) as server, client_of(server) as client:
            for name in ("em_1", "em_2"):
                self.assertEqual(client.emails.get(name).id, f"/v1/emails/{name}")
            self.assertEqual(server.connections, 1)

    def test_an_address_that_never_answers_leaves_time_for_the_next(self):
        with socket.create_server(("127.0.0.1", 0), backlog=0) as silent, Server(SENT) as server, client_of(server, timeout=5) as client:
            # A listener whose queue is full answers to no further connection.
            waiting = [socket.socket() for _ in range(4)]
            for sock in waiting:
                sock.setblocking(False)
                sock.connect_ex(silent.getsockname())
            addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in (silent.getsockname(), ("127.0.0.1", server.port))]
            with mock.patch.object(socket, "getaddrinfo", lambda *_: addresses), mock.patch.object(transport, "MAX_CONNECT_SECONDS", 0.2):
                started = time.monotonic()
                self.assertEqual(client.emails.send(**EMAIL).id, "em_1")
            self.assertLess(time.monotonic() - started, 3)
            for sock in waiting:
                sock.close()


class Interrupts(Case):
    def test_an_interrupt_gives_the_connection_up(self):
        def interrupt(_reader, _buffer):
            raise KeyboardInterrupt

        with Server((200, {}, {"id": "x" * 300_000})) as server, client_of(server) as client:
            part = transport.Answer.read_part

            def second(answer, size):
                if answer._left < 300_000:
                    with mock.patch.object(transport._Reader, "readinto", interrupt):
                        return part(answer, size)
                return part(answer, size)

            with mock.patch.object(transport.Answer, "read_part", second), mock.patch.object(transport, "READ_BYTES", 100_000):
                self.assertRaises(KeyboardInterrupt, client.plan.get)
            self.assertEqual((len(client._calls), len(client._pool._open)), (0, 0))
            self.assertEqual(len(client.plan.get().id), 300_000)


class Time(Case):
    def test_timeout_of_a_try(self):
        with Server(hang) as server, client_of(server, timeout=0.5) as client:
            started = time.monotonic()
            error = self.fails("timeout", client.plan.get)
            self.assertEqual((len(server.requests), error.status), (3, None))
            self.assertLess(time.monotonic() - started, 8)
            self.fails("timeout", client.plan.get, options={"timeout": 0.05})

    def test_slow_bytes_do_not_extend_a_try(self):
        def drip(sock, _request):
            for byte in answer_bytes(SENT):
                sock.sendall(bytes([byte]))
                time.sleep(0.05)

        with Server(drip) as server, client_of(server, timeout=0.5, max_retries=0) as client:
            started = time.monotonic()
            self.fails("timeout", client.plan.get)
            self.assertLess(time.monotonic() - started, 2)

    def test_deadline_ends_the_whole_call(self):
        with Server(hang) as server, client_of(server, deadline=0.3, max_retries=100) as client:
            started = time.monotonic()
            self.fails("timeout", client.plan.get)
            self.assertTrue(0.25 < time.monotonic() - started < 3)
        with Server(problem(429, "rate_limited", {"Retry-After": "5"})) as server, client_of(server) as client:
            self.fails("rate_limited", client.plan.get, options={"deadline": 1})
            self.assertEqual(len(server.requests), 1)

    def test_cancellation_within_a_try_and_within_a_pause(self):
        for answer in (hang, problem(429, "rate_limited", {"Retry-After": "20"})):
            with Server(answer) as server, client_of(server) as client:
                cancellation = Cancellation()
                threading.Timer(0.5, cancellation.cancel).start()
                started = time.monotonic()
                error = self.fails("canceled", client.emails.send, **EMAIL, options={"cancellation": cancellation})
                self.assertLess(time.monotonic() - started, 5)
                self.assertTrue(error.idempotency_key)
                self.fails("canceled", client.emails.send, **EMAIL, options={"cancellation": cancellation})
                self.assertEqual(len(server.requests), 1)

    def test_close_ends_calls_that_run(self):
        with Server(hang) as server, client_of(server) as client:
            threading.Timer(0.3, client.close).start()
            self.fails("closed", client.plan.get)
            self.assertTrue(server.wait_until_closed())

    def test_options_are_checked(self):
        with Server(SENT) as server, client_of(server) as client:
            for options in ({"timeout": 0}, {"timeout": "1"}, {"deadline": -1}, {"idempotencyKey": "x"}, {"idempotency_key": "a\r\nb"}, {"idempotency_key": ""}, {"idempotency_key": "x" * 257}, {"cancellation": 1}):
                self.fails("invalid_argument", client.emails.send, **EMAIL, options=options)
            self.assertEqual(server.requests, [])


class Answers(Case):
    def test_problem(self):
        body = {"error": {"type": "validation_error", "message": "`to` is wrong", "param": "to", "issues": [{"path": "to", "message": "m"}], "details": {"id": "x"}, "requestId": "req_1"}}
        with Server((400, {"X-Thing": "1"}, body)) as server, client_of(server) as client:
            error = self.fails("validation_error", client.emails.send, **EMAIL)
            self.assertEqual((error.status, error.message, error.param, error.issues[0].path, error.details.id), (400, "`to` is wrong", "to", "to", "x"))
            self.assertEqual((error.headers["x-thing"], error.request_id, str(error)), ("1", "req_1", "`to` is wrong"))
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual((copy.type, copy.status, copy.param, copy.message), (error.type, 400, "to", error.message))

    def test_answers_that_are_none_of_ours(self):
        cases = [(200, b"<html>hello</html>", "invalid_response"), (200, b"", "invalid_response"), (200, b"[1]", "invalid_response")]
        cases += [(404, b"<html>", "http_error"), (403, b'{"error":"x"}', "http_error"), (200, b'{"a":', "invalid_response"), (200, b"[" * 100_000, "invalid_response")]
        for status, body, type in cases:
            with Server((status, {}, body)) as server, client_of(server) as client:
                error = self.fails(type, client.plan.get)
                self.assertEqual(error.status, status)
                self.assertLess(len(error.message), 300)

    def test_cut_answers(self):
        with Server(cut_body) as server, client_of(server, max_retries=0) as client:
            self.assertEqual(self.fails("connection_error", client.plan.get).status, 200)
        with Server(cut_chunk) as server, client_of(server, max_retries=0) as client:
            self.assertEqual(self.fails("connection_error", client.plan.get).status, 200)
        with Server(cut_head) as server, client_of(server, max_retries=0) as client:
            self.assertIsNone(self.fails("connection_error", client.plan.get).status)
        with Server(close) as server, client_of(server, max_retries=0) as client:
            self.assertIsInstance(self.fails("connection_error", client.plan.get).cause, OSError)

    def test_what_is_no_http(self):
        def smtp(sock, _request):
            sock.sendall(b"220 mail.x.test ESMTP\r\n")

        def headers(sock, _request):
            sock.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n")

        for answer in (smtp, headers):
            with Server(answer) as server, client_of(server) as client:
                self.fails("invalid_response", client.plan.get)

    def test_answers_that_are_too_large_or_compressed(self):
        def huge(sock, _request):
            sock.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
            while True:
                sock.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")

        with mock.patch.object(transport, "MAX_ANSWER_BYTES", 1_000_000), Server(huge) as server, client_of(server) as client:
            self.fails("invalid_response", client.plan.get)
            self.assertEqual(len(server.requests), 1)
        with Server((200, {"Content-Length": str(2**40)}, b"x")) as server, client_of(server) as client:
            self.fails("invalid_response", client.plan.get)
        # The body would be JSON, so that only the header says that it is none.
        with Server((200, {"Content-Encoding": "gzip"}, b"{}")) as server, client_of(server) as client:
            self.fails("invalid_response", client.plan.get)
            self.fails("invalid_response", client.exports.get_file, "exp_1")
            self.assertEqual(len(server.requests), 2)

    def test_answer_before_the_body_was_read(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def serve():
                sock, _ = listener.accept()
                sock.recv(1000)
                sock.sendall(answer_bytes(problem(413, "payload_too_large")))
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(65536):
                    pass
                sock.close()

            threading.Thread(target=serve, daemon=True).start()
            with Client(KEY, f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
                error = self.fails("payload_too_large", client.contacts.import_csv, "aud_1", b"x" * 5_000_000)
                self.assertEqual(error.status, 413)

    def test_http_1_0_and_answers_until_the_end(self):
        def old(sock, _request):
            sock.sendall(b'HTTP/1.0 200 OK\r\n\r\n{"id": 1}')

        with Server(old) as server, client_of(server) as client:
            self.assertEqual(client.plan.get().id, 1)


class Keys(Case):
    LIVE = "svc_prd_secretsecretsecret"

    def test_live_key_over_plain_http(self):
        for address in ("http://mail.example.com", "http://127.0.0.1.example.com", "http://10.0.0.1", "http://localhost.example.com", "http://[::2]", "http://2130706433"):
            error = self.fails("insecure_base_url", Client, self.LIVE, address)
            self.assertNotIn(self.LIVE, str(error) + repr(error))
        for address in ("http://localhost:1", "http://api.localhost", "http://127.9.9.9", "http://[::1]:1", "https://mail.example.com", "HTTP://LOCALHOST"):
            Client(self.LIVE, address).close()
        Client(KEY, "http://mail.example.com").close()

    def test_arguments_of_a_client(self):
        for key, address in (("", "http://localhost"), ("a\r\nb", "http://localhost"), ("schlüssel", "http://localhost"), (KEY, ""), (KEY, "localhost:8025"), (KEY, "ftp://x"), (KEY, "http://"), (KEY, "http://u:p@localhost"), (KEY, "http://localhost/?q"), (KEY, "http://localhost:99999"), (KEY, "http://local host")):
            error = self.fails("invalid_argument", Client, key, address)
            self.assertTrue(not key or key not in str(error))
        with mock.patch.dict(os.environ, {"SERVICE_API_KEY": KEY, "SERVICE_BASE_URL": "http://localhost:1"}):
            Client().close()
        with mock.patch.dict(os.environ, clear=True):
            self.fails("invalid_argument", Client)

    def test_key_is_in_no_message_representation_or_traceback(self):
        def echo(sock, request):
            sock.sendall(answer_bytes((400, {"X-Echo": self.LIVE}, f"you sent {request.headers['authorization']}".encode())))
            return True

        def ours(sock, _request):
            sock.sendall(answer_bytes((400, {}, {"error": {"type": "x", "message": self.LIVE, "param": self.LIVE, "issues": [{"path": self.LIVE}], "details": {"a": self.LIVE}}})))
            return True

        for answer in (echo, ours, close, cut_body, hang):
            with Server(answer) as server, client_of(server, key=self.LIVE, timeout=0.1, max_retries=0) as client:
                try:
                    client.emails.send(**EMAIL)
                    self.fail("nothing was raised")
                except PostriderError as caught:
                    error = caught
                trace = traceback.TracebackException.from_exception(error, capture_locals=True)
                text = "".join(trace.format()) + repr(error) + str(error) + json.dumps(error.__dict__, default=repr)
                # The server of this test is no part of the library and has the key among its variables.
                self.assertNotIn(self.LIVE, text)
                self.assertNotIn(self.LIVE, repr(client) + repr(client.__dict__) + repr(client.emails.__dict__) + str(vars(client._pool)))
                self.assertRaises(TypeError, pickle.dumps, client)

    def test_key_is_not_in_the_traceback_of_a_refused_client(self):
        for make in (Client, postrider.AsyncClient):
            error = self.fails("insecure_base_url", make, self.LIVE, "http://mail.example.com")
            # The first two frames are those of this test.
            walk = error.__traceback__.tb_next
            self.assertIsNotNone(walk)
            while walk is not None:
                self.assertNotIn(self.LIVE, repr(walk.tb_frame.f_locals))
                walk = walk.tb_next
