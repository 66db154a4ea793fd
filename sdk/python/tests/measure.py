"""Measures one thing, and prints a line of JSON. ``npm run bench -- --only sdks`` runs it against servers of its own::

    python3 tests/measure.py sends COUNT
    python3 tests/measure.py parallel CALLERS EACH
    python3 tests/measure.py faults FIRST COUNT CALLERS MAX_RETRIES
    python3 tests/measure.py attachment file|bytes FILE
    python3 tests/measure.py import
"""

import http.client
import json
import os
import statistics
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src"))

ROUNDS = 10
WARM_UP = 200
# A send that fails so often in a row has found something else than the faults that are asked for.
MAX_CALLS = 20
EMAIL = {"from": "bench@sender.test", "to": ["b@recipient.test"], "subject": "Hello", "html": "<p>It works.</p>", "type": "transactional"}
FIELDS = {("from_" if name == "from" else name): value for name, value in EMAIL.items()}


def open_client(**options):
    from postrider import Client

    return Client(**options)


def sends(count):
    """Alternates rounds of sends and of bare requests. Times are medians of single calls, in microseconds; processor times are means."""
    client = open_client()
    connection = http.client.HTTPConnection(os.environ["SERVICE_BASE_URL"][7:])
    kinds = {"send": lambda: client.emails.send(**FIELDS), "bare": lambda: bare_request(connection)}
    times, cpu = {"send": [], "bare": []}, {"send": 0, "bare": 0}
    for call in kinds.values():
        for _ in range(WARM_UP):
            call()
    for _ in range(ROUNDS):
        for kind, call in kinds.items():
            before = time.process_time()
            for _ in range(int(count) // ROUNDS):
                started = time.perf_counter()
                call()
                times[kind].append((time.perf_counter() - started) * 1e6)
            cpu[kind] += (time.process_time() - before) * 1e6 / int(count)
    client.close()
    connection.close()
    medians = {f"{kind}Us": statistics.median(values) for kind, values in times.items()}
    return {**medians, **{f"{kind}CpuUs": value for kind, value in cpu.items()}}


def bare_request(connection):
    headers = {
        "Authorization": f"Bearer {os.environ['SERVICE_API_KEY']}",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    }
    connection.request("POST", "/v1/emails", json.dumps(EMAIL), headers)
    return json.loads(connection.getresponse().read())


def parallel(callers, each):
    client = open_client()
    in_parallel(int(callers), int(callers) * int(each), lambda _: client.emails.send(**FIELDS))
    client.close()
    return {}


def faults(first, count, callers, max_retries):
    """Sends numbered emails, and asks again with the key of the error as long as a call fails."""
    from postrider import PostriderError

    client = open_client(max_retries=int(max_retries))
    again = []

    def send(index):
        options = {}
        for calls in range(MAX_CALLS):
            try:
                return client.emails.send(**{**FIELDS, "subject": f"Number {int(first) + index}"}, options=options)
            except PostriderError as error:
                if calls == MAX_CALLS - 1:
                    raise
                options = {"idempotency_key": error.idempotency_key}
                again.append(index)

    in_parallel(int(callers), int(count), send)
    client.close()
    return {"again": len(again)}


def attachment(kind, file):
    """Returns by how many bytes the memory of this process grows at most, the file in memory included."""
    client = open_client()

    def send(content):
        client.emails.send(**FIELDS, attachments=[{"filename": "a", "content": content}])

    send(bytes(1024 * 1024))
    before = memory_bytes("VmRSS")
    with open(file, "rb") as opened:
        send(opened if kind == "file" else opened.read())
    client.close()
    return {"bytes": memory_bytes("VmHWM") - before}


def memory_bytes(name):
    """Reads a line of proc(5)'s status: VmRSS is the resident memory, VmHWM its peak, which does not count the parent as getrusage does."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(f"{name}:"))


def import_time():
    """Returns the time that the import takes when the modules of the standard library that it uses are there."""
    import http.client, json, keyword, random, select, threading, urllib.parse, weakref  # noqa: E401, F401

    started, before = time.perf_counter(), time.process_time()
    import postrider  # noqa: F401

    return {"ms": (time.perf_counter() - started) * 1000, "cpuMs": (time.process_time() - before) * 1000}


def in_parallel(callers, count, work):
    numbers, lock, failures = iter(range(count)), threading.Lock(), []

    def caller():
        while True:
            with lock:
                number = next(numbers, None)
            if number is None or failures:
                return
            try:
                work(number)
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=caller) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


TASKS = {"sends": sends, "parallel": parallel, "faults": faults, "attachment": attachment, "import": import_time}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])), flush=True)
    if sys.argv[1] == "parallel":
        sys.stdin.read()
