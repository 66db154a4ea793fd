import ast
import asyncio
import inspect
import json
import os
import pathlib
import pickle
import subprocess
import sys
import unittest

from .support import KEY, Server

import postrider
from postrider import AsyncClient, Client, Object, Page, PostriderError
from postrider.objects import camel, snake
from postrider.resource import Resource

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent / "src" / "postrider"
CONTRACT = pathlib.Path(os.environ.get("CONTRACT_DIR") or HERE.parent.parent / "contract")
OPERATIONS = json.loads((CONTRACT / "operations.json").read_text("utf-8"))
WITHOUT_DAEMON = {"webhooks.verify", "webhooks.sign"}


def wire_path(call):
    """Path to a method in Python: ``inbound.messages.getRaw`` is ``inbound.messages.get_raw``."""
    return ".".join(snake(name).rstrip("_") for name in call.split("."))


def find(client, call):
    found = client
    for name in wire_path(call).split("."):
        found = getattr(found, name)
    return found


def methods(holder, before=""):
    for name, value in vars(holder).items():
        if isinstance(value, Resource):
            yield from methods(value, f"{before}{name}.")
    if isinstance(holder, Resource):
        for name, _ in inspect.getmembers(type(holder), callable):
            if not name.startswith("_"):
                yield before + name


class Surface(unittest.TestCase):
    def test_methods_are_the_operations_both_ways(self):
        for client in (Client(KEY, "http://localhost"), AsyncClient(KEY, "http://localhost")):
            found = sorted(methods(client))
            self.assertEqual(found, sorted({wire_path(operation["call"]) for operation in OPERATIONS} | WITHOUT_DAEMON))

    def test_every_method_sends_its_operation(self):
        seen = []

        def record(request, _options):
            seen.append(request)

        resources = postrider.client.Resources(record)
        for operation in OPERATIONS:
            method = find(resources, operation["call"])
            positional = [p for p in inspect.signature(method).parameters.values() if p.kind is p.POSITIONAL_ONLY]
            in_path = [part for part in operation["path"].split("/")[2:] if part.startswith("{")]
            names = [snake(part[1:-1]).rstrip("_") for part in in_path]
            if operation.get("body") == "csv":
                names.append("file")
            self.assertEqual([p.name for p in positional], names, operation["id"])
            keywords = {"sendEmail": {"from_": "a", "to": "b", "subject": "c", "type": "d"}, "sendBatch": {"emails": []}}.get(operation["id"], {})
            if operation.get("body") == "json" or operation.get("query"):
                keywords["some_field"] = "x"
            method(*[f"<{name}>" for name in names], **keywords)
            request = seen.pop()
            path = "/v1/" + "/".join(request.path)
            for part, name in zip(in_path, names):
                path = path.replace(f"<{name}>", part, 1)
            self.assertEqual((request.method, path, request.answer), (operation["method"], operation["path"], operation["answer"]))
            repeat = "keyed" if request.keyed else "always" if request.is_repeatable else "unsent"
            self.assertEqual(repeat, operation["repeat"], operation["id"])
            self.assertEqual(request.body is not None, bool(operation.get("body")), operation["id"])
            if keywords.get("some_field"):
                where = request.body if operation.get("body") == "json" else request.query
                self.assertEqual(where["someField"], "x", operation["id"])
            if operation.get("bodyOptional"):
                method(*[f"<{name}>" for name in names])
                self.assertIsNone(seen.pop().body)

    @unittest.skipUnless(os.environ.get("CONTRACT_BASE_URL"), "needs a daemon")
    def test_docstrings_begin_with_the_summary_of_the_operation(self):
        import urllib.request

        with urllib.request.urlopen(os.environ["CONTRACT_BASE_URL"].rstrip("/") + "/v1/openapi.json") as answer:
            document = json.load(answer)
        described = {o["operationId"]: o["summary"] for path in document["paths"].values() for o in path.values()}
        client = Client(KEY, "http://localhost")
        self.assertEqual(set(described), {operation["id"] for operation in OPERATIONS})
        for operation in OPERATIONS:
            doc = inspect.getdoc(find(client, operation["call"]))
            self.assertTrue(doc.startswith(described[operation["id"]] + "."), f"{operation['id']}: {doc}")

    def test_names(self):
        self.assertEqual([camel(name) for name in ("reply_to", "from_", "ed25519", "replyTo", "to")], ["replyTo", "from", "ed25519", "replyTo", "to"])
        self.assertEqual([snake(name) for name in ("createdAt", "from", "id", "items")], ["created_at", "from_", "id", "items_"])
        answer = Object({"from": "a", "items": 1, "createdAt": 2, "under_score": 3, "x_": 4})
        self.assertEqual((answer.from_, answer.items_, answer.created_at, answer.under_score, answer.x_), ("a", 1, 2, 3, 4))
        self.assertEqual(dict(answer), json.loads(json.dumps(answer)))
        self.assertEqual(pickle.loads(pickle.dumps(answer)), answer)
        with self.assertRaises(AttributeError):
            answer.created_at = 5

    def test_sources_are_python_3_9(self):
        files = [*SOURCES.glob("*.py"), *HERE.glob("*.py"), *(HERE.parent / "examples").glob("*.py")]
        self.assertGreater(len(files), 15)
        for file in files:
            ast.parse(file.read_text("utf-8"), feature_version=(3, 9))

    def test_import_needs_the_standard_library_alone_and_leaves_out_asyncio(self):
        code = "import sys; before = set(sys.modules); import postrider; print('\\n'.join(set(sys.modules) - before))"
        environment = {**os.environ, "PYTHONPATH": str(SOURCES.parent)}
        loaded = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout.split()
        self.assertIn("postrider.client", loaded)
        self.assertFalse({"asyncio", "concurrent.futures", "logging", "typing_extensions"} & set(loaded))
        known = getattr(sys, "stdlib_module_names", None)
        if known is not None:
            self.assertEqual({name.split(".")[0] for name in loaded} - set(known), {"postrider"})

    def test_an_installed_package_has_less_than_100_kb(self):
        # The files of the package alone: beside them pip writes the README, the licence and its own lists, which are 6 kB.
        self.assertLess(sum(file.stat().st_size for file in SOURCES.iterdir() if file.is_file()), 100_000)

    def test_version_is_that_of_the_metadata(self):
        for file in (HERE.parent / "pyproject.toml", HERE.parent / "stubs" / "pyproject.toml"):
            self.assertIn(f'\nversion = "{postrider.__version__}"\n', file.read_text("utf-8"))


def pages(count, size=2):
    answers = []
    for n in range(count):
        data = [{"id": f"{n}-{i}"} for i in range(size)]
        more = n < count - 1
        answers.append((200, {}, {"data": data, "hasMore": more, "nextCursor": data[-1]["id"] if more else None}))
    return answers


class Pages(unittest.TestCase):
    def test_a_page_and_all_pages(self):
        with Server(*pages(3)) as server, Client(KEY, server.url) as client:
            page = client.emails.list(limit=2, from_="x.test")
            self.assertIsInstance(page, Page)
            self.assertEqual((len(page.data), page.has_more, page.next_cursor, len(server.requests)), (2, True, "0-1", 1))
            ids = []
            for email in page:
                ids.append(email.id)
                # The next page is fetched when its first item is needed.
                self.assertEqual(len(server.requests), (len(ids) + 1) // 2)
            self.assertEqual(ids, ["0-0", "0-1", "1-0", "1-1", "2-0", "2-1"])
            self.assertEqual([request.target for request in server.requests[1:]], ["/v1/emails?limit=2&from=x.test&startingAfter=0-1", "/v1/emails?limit=2&from=x.test&startingAfter=1-1"])
            self.assertEqual(json.loads(json.dumps(page))["hasMore"], True)
            self.assertEqual(pickle.loads(pickle.dumps(page))["hasMore"], True)
            self.assertIsNone(page.next_page().next_page())

    def test_towards_newer_items(self):
        with Server(*pages(2)) as server, Client(KEY, server.url) as client:
            self.assertEqual(len(list(client.emails.list(ending_before="em_9"))), 4)
            self.assertEqual(server.requests[1].target, "/v1/emails?endingBefore=0-0")

    def test_a_cursor_that_does_not_move_ends_the_iteration(self):
        with Server((200, {}, {"data": [{"id": "a"}], "hasMore": True, "nextCursor": "a"})) as server, Client(KEY, server.url) as client:
            self.assertEqual(len(list(client.emails.list())), 2)
        with Server((200, {}, {"data": [], "hasMore": True})) as server, Client(KEY, server.url) as client:
            self.assertEqual(list(client.emails.list()), [])
        with Server((200, {}, {"items": []})) as server, Client(KEY, server.url) as client:
            self.assertRaises(PostriderError, client.emails.list)

    def test_asynchronous_pages(self):
        async def main(server):
            async with AsyncClient(KEY, server.url) as client:
                first = await client.emails.list(limit=2)
                self.assertEqual((first.has_more, first.data[0].id), (True, "0-0"))
                self.assertEqual(len([item async for item in first]), 6)
            server.answers, server.requests = pages(3), []
            async with AsyncClient(KEY, server.url) as client:
                self.assertEqual(len([item async for item in client.emails.list(limit=2)]), 6)

        with Server(*pages(3)) as server:
            asyncio.run(main(server))
