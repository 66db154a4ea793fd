import asyncio
import os
import tempfile
import time
import unittest

from .support import KEY, SENT, Server, answer_bytes, problem
from .test_transport import EMAIL, hang

from postrider import AsyncClient, Cancellation, PostriderError


def run(work, *answers, **options):
    async def main():
        async with AsyncClient(KEY, server.url, **options) as client:
            await work(server, client)
        # The last connections end in the threads of the server.
        assert server.wait_until_closed()

    with Server(*answers) as server:
        asyncio.run(main())


class Async(unittest.TestCase):
    def test_calls_in_parallel(self):
        def slow(sock, _request):
            time.sleep(0.05)
            sock.sendall(answer_bytes(SENT))
            return True

        async def work(server, client):
            started = time.monotonic()
            sent = await asyncio.gather(*[client.emails.send(**EMAIL) for _ in range(100)])
            self.assertLess(time.monotonic() - started, 4)
            self.assertEqual(len({email.idempotency_key for email in sent}), 100)
            self.assertLessEqual(server.connections, 20)

        run(work, slow, max_threads=20)

    def test_a_task_that_is_canceled_ends_its_call(self):
        async def work(server, client):
            for _ in range(3):
                task = asyncio.create_task(client.emails.send(**EMAIL))
                await asyncio.sleep(0.3)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(client.plan.get(), 0.1)
            # The thread is free again and the connections are closed.
            self.assertTrue(server.wait_until_closed())
            self.assertEqual(len(client._client._calls), 0)

        run(work, hang, max_threads=1)

    def test_a_task_that_is_canceled_leaves_the_cancellation_of_the_caller_alone(self):
        async def work(server, client):
            cancellation = Cancellation()
            options = {"cancellation": cancellation}
            tasks = [asyncio.create_task(client.plan.get(options=options)) for _ in range(2)]
            await asyncio.sleep(0.3)
            tasks[0].cancel()
            with self.assertRaises(asyncio.CancelledError):
                await tasks[0]
            await asyncio.sleep(0.1)
            self.assertEqual((cancellation.canceled, tasks[1].done()), (False, False))
            cancellation.cancel()
            with self.assertRaises(PostriderError) as caught:
                await tasks[1]
            self.assertEqual(caught.exception.type, "canceled")
            self.assertEqual(len(cancellation._calls), 0)

        run(work, hang)

    def test_the_deadline_includes_the_wait_for_a_thread(self):
        async def work(server, client):
            started = time.monotonic()
            results = await asyncio.gather(*[client.plan.get() for _ in range(4)], return_exceptions=True)
            self.assertEqual([error.type for error in results], ["timeout"] * 4)
            self.assertLess(time.monotonic() - started, 1.5)
            self.assertLessEqual(len(server.requests), 2)

        run(work, hang, max_threads=1, deadline=0.5)

    def test_errors(self):
        async def work(server, client):
            with self.assertRaises(PostriderError) as caught:
                await client.emails.get("em_1")
            self.assertEqual(caught.exception.type, "not_found")
            with self.assertRaises(PostriderError):
                await client.emails.get("")
            self.assertNotIn(KEY, repr(client) + repr(client.__dict__))
            await client.close()
            with self.assertRaises(PostriderError) as caught:
                await client.emails.get("em_1")
            self.assertEqual(caught.exception.type, "closed")

        run(work, problem(404, "not_found"))

    def test_close_ends_calls_that_run(self):
        async def work(server, client):
            task = asyncio.create_task(client.plan.get())
            await asyncio.sleep(0.1)
            await client.close()
            with self.assertRaises(PostriderError) as caught:
                await task
            self.assertEqual(caught.exception.type, "closed")

        run(work, hang)

    def test_streams(self):
        body = os.urandom(300_000)

        async def work(server, client):
            async with await client.exports.get_file("exp_1") as stream:
                self.assertEqual(b"".join([part async for part in stream]), body)
            stream = await client.exports.get_file("exp_1")
            self.assertEqual(await stream.read(5) + await stream.read(), body)
            with tempfile.TemporaryDirectory() as folder:
                stream = await client.exports.get_file("exp_1")
                self.assertEqual(await stream.save(os.path.join(folder, "x")), len(body))
            self.assertEqual(server.connections, 1)

        run(work, (200, {}, body))

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_forked_child_has_threads_of_its_own(self):
        async def send(client):
            return (await client.emails.send(**EMAIL)).id

        with Server(SENT) as server:
            client = AsyncClient(KEY, server.url)
            self.assertEqual(asyncio.run(send(client)), "em_1")
            child = os.fork()
            if child == 0:
                try:
                    os._exit(0 if asyncio.run(send(client)) == "em_1" else 1)
                except BaseException:
                    os._exit(2)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(server.connections, 2)
            asyncio.run(client.close())
