"""The cases of sdk/contract, which the suites of all client libraries run. sdk/README.md describes them."""

import asyncio
import base64
import hashlib
import json
import os
import re
import secrets
import threading
import time
import unittest
import urllib.request
from datetime import datetime, timedelta, timezone
from unittest import mock

from .support import KEY
from .test_surface import CONTRACT, OPERATIONS, find, wire_path

import postrider
from postrider import AsyncClient, Cancellation, Client, Page, PostriderError, Stream, webhooks
from postrider.objects import snake

BY_CALL = {operation["call"]: operation for operation in OPERATIONS}


def cases(name):
    file = CONTRACT / f"{name}.json"
    return json.loads(file.read_text("utf-8")) if file.exists() else []


def arguments(call, args):
    """Positional and keyword arguments in Python for the arguments of a case: path, body, query."""
    operation, rest = BY_CALL[call], list(args)
    positional = [rest.pop(0) for part in operation["path"].split("/") if part.startswith("{")]
    if operation.get("body") == "csv" and rest:
        positional.append(rest.pop(0))
    keywords = {}
    for value in rest:
        value = {"emails": value} if isinstance(value, list) else value
        keywords.update({snake(name): item for name, item in (value or {}).items()})
    return positional, keywords


def bytes_within(value):
    if isinstance(value, dict):
        if set(value) == {"$bytes"}:
            return base64.b64decode(value["$bytes"])
        return {name: bytes_within(item) for name, item in value.items()}
    return [bytes_within(item) for item in value] if isinstance(value, list) else value


def difference(value, expected, where="result"):
    """Sentence that says where the value lacks what is expected; None when it has everything."""
    if isinstance(expected, dict) and set(expected) == {"$any"}:
        kinds = {"string": str, "number": (int, float), "boolean": bool, "object": dict, "array": list}
        return None if isinstance(value, kinds[expected["$any"]]) else f"{where} is {value!r}"
    if isinstance(expected, dict):
        if not isinstance(value, dict):
            return f"{where} is {value!r}, and no object"
        found = [difference(value.get(name), item, f"{where}.{name}") for name, item in expected.items()]
        return next((one for one in found if one), None)
    if isinstance(expected, list):
        if not isinstance(value, list) or len(value) != len(expected):
            return f"{where} is {value!r}, and {expected!r} was expected"
        found = [difference(one, other, f"{where}[{n}]") for n, (one, other) in enumerate(zip(value, expected))]
        return next((one for one in found if one), None)
    return None if value == expected and type(value) is type(expected) else f"{where} is {value!r}, and {expected!r} was expected"


def has_failed_as(error, expected):
    for name, value in expected.items():
        problem = difference(getattr(error, snake(name)), value, f"error.{name}")
        if problem:
            return f"{problem}: {error!r}"
    return None


def outcome(call, step):
    """Make a call and compare what comes of it with the step; returns the answer and a problem."""
    try:
        answer = call()
        if isinstance(answer, Stream):
            answer = answer.read().decode("utf-8", "replace")
        elif "items" in step:
            answer = list(answer)
    except PostriderError as error:
        return None, has_failed_as(error, step["error"]) if "error" in step else f"it failed: {error!r}"
    if "error" in step:
        return answer, f"it did not fail, and the answer is {answer!r}"
    if "text" in step:
        return answer, None if step["text"] in answer else f"the stream is {answer[:200]!r}"
    if "items" in step:
        return answer, None if len(answer) >= step["items"] else f"the list has {len(answer)} items"
    return answer, difference(answer, step["result"]) if "result" in step else None


class Blocking:
    """The asynchronous client with the methods of the other, so that both run the same cases."""

    def __init__(self, *args, **options):
        self.loop = asyncio.new_event_loop()
        self.client = AsyncClient(*args, **options)

    def call(self, name, positional, keywords):
        async def run():
            answer = await find(self.client, name)(*positional, **keywords)
            if type(answer).__name__ == "AsyncStream":
                return (await answer.read()).decode("utf-8", "replace")
            return answer

        async def run_list():
            return [item async for item in find(self.client, name)(*positional, **keywords)]

        return lambda items: self.loop.run_until_complete(run_list() if items else run())

    def close(self):
        self.loop.run_until_complete(self.client.close())
        self.loop.close()


def options_of(case):
    options = case.get("options", {})
    made = {}
    if "idempotencyKey" in options:
        made["idempotency_key"] = options["idempotencyKey"]
    for name in ("timeout", "deadline"):
        if name + "Ms" in options:
            made[name] = options[name + "Ms"] / 1000
    if "cancelAfterMs" in options:
        made["cancellation"] = Cancellation()
        threading.Timer(options["cancelAfterMs"] / 1000, made["cancellation"].cancel).start()
    return made or None


def http(method, url, value=None):
    data = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


@unittest.skipUnless(os.environ.get("CONTRACT_SERVER"), "needs the scripted server")
class Wire(unittest.TestCase):
    def check(self, case, is_async):
        server = os.environ["CONTRACT_SERVER"].rstrip("/")
        made = http("POST", f"{server}/cases", case)
        asked = case.get("client", {})
        options = {"max_retries": asked["maxRetries"]} if "maxRetries" in asked else {}
        options.update({name: asked[name + "Ms"] / 1000 for name in ("timeout", "deadline") if name + "Ms" in asked})
        address = asked.get("baseUrl", made["baseUrl"] + asked.get("pathBefore", ""))
        client, started, problem = None, time.monotonic(), None
        try:
            client = (Blocking if is_async else Client)(asked.get("key", "svc_dev_contract"), address, **options)
            for step in case.get("before", []):
                self.prepare(client, step, None)(False)
            started = time.monotonic()
            if "call" in case:
                call = self.prepare(client, case, options_of(case))
                _, problem = outcome(lambda: call("items" in case), case)
            elif "error" in case:
                problem = "the client was made"
        except PostriderError as error:
            problem = has_failed_as(error, case["error"]) if "error" in case else f"it failed: {error!r}"
        finally:
            if client is not None:
                client.close()
        took = (time.monotonic() - started) * 1000
        self.assertIsNone(problem)
        if "maxMs" in case:
            self.assertLess(took, case["maxMs"])
        self.assertEqual(http("GET", f"{server}/cases/{made['id']}")["problems"], [])

    def prepare(self, client, step, options):
        positional, keywords = arguments(step["call"], bytes_within(step["args"]))
        if options:
            keywords["options"] = options
        if isinstance(client, Blocking):
            return client.call(step["call"], positional, keywords)
        return lambda _items: find(client, step["call"])(*positional, **keywords)


@unittest.skipUnless(os.environ.get("CONTRACT_BASE_URL"), "needs a daemon")
class Calls(unittest.TestCase):
    def check(self, case):
        variables = {"run": secrets.token_hex(4), "hostname": os.environ.get("CONTRACT_HOSTNAME", "localhost")}
        variables.update(tomorrow=days_ahead(1), dayAfter=days_ahead(2), hash=hashlib.sha256(b"test").hexdigest())
        with Client(os.environ.get("CONTRACT_KEY", KEY), os.environ["CONTRACT_BASE_URL"]) as client:
            for number, step in enumerate(case["steps"]):
                step = filled(step, variables)
                positional, keywords = arguments(step["call"], bytes_within(step.get("args", [])))
                if "options" in step:
                    keywords["options"] = options_of(step)
                end = time.monotonic() + (10 if step.get("until") else 0)
                while True:
                    answer, problem = outcome(lambda: find(client, step["call"])(*positional, **keywords), step)
                    if problem is None or time.monotonic() >= end:
                        break
                    time.sleep(0.1)
                self.assertIsNone(problem, f"step {number} {step['call']}")
                for name, path in step.get("save", {}).items():
                    variables[name] = at(answer, path)


def days_ahead(days):
    return (datetime.now(timezone.utc) + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def at(value, path):
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def filled(value, variables):
    if isinstance(value, dict):
        if set(value) == {"$"}:
            return variables[value["$"]]
        return {name: filled(item, variables) if name != "save" else item for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, variables) for item in value]
    return re.sub(r"\$\{(\w+)\}", lambda found: str(variables[found[1]]), value) if isinstance(value, str) else value


class Signatures(unittest.TestCase):
    def check(self, case):
        now = case.get("now", time.time())
        with mock.patch.object(webhooks.clock, "time", lambda: now):
            body = base64.b64decode(case["body"]["$bytes"]) if isinstance(case["body"], dict) else case["body"].encode()
            if "valid" not in case:
                self.assertEqual(webhooks.sign(body, case["secret"], case.get("time", case.get("now"))), case["header"])
                return
            options = {"tolerance": case["tolerance"]} if "tolerance" in case else {}
            if case["valid"]:
                event = webhooks.verify(body, case["header"], case["secret"], **options)
                self.assertEqual(event, json.loads(body))
            else:
                with self.assertRaises(PostriderError) as caught:
                    webhooks.verify(body, case["header"], case["secret"], **options)
                self.assertEqual(caught.exception.type, "invalid_signature")


def add(suite, name, case, *args):
    setattr(suite, "test_" + name, lambda self: self.check(case, *args))


for one in cases("signatures"):
    add(Signatures, one["name"], one)
for one in cases("wire"):
    add(Wire, one["name"], one, False)
    add(Wire, one["name"] + " (asyncio)", one, True)
for one in cases("calls"):
    add(Calls, one["name"], one)


class Contract(unittest.TestCase):
    def test_every_operation_is_called(self):
        called = {step["call"] for case in cases("calls") for step in case["steps"]}
        if called:
            self.assertEqual(set(BY_CALL) - called, set())

    def test_the_contract_is_there(self):
        self.assertTrue(cases("wire") and cases("signatures"))
        self.assertTrue(issubclass(Page, dict) and postrider.__version__ and wire_path("inbound.messages.getRaw") == "inbound.messages.get_raw")
