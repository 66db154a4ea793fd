"""Measures the library against a server that answers every request at once, and prints a line for each number.

Run it as ``python3 tests/measure.py``. The floor of the overhead is ``http.client`` with one kept connection and the same body.
"""

import http.client
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from tests.support import KEY, SENT, Server

from postrider import Client

COUNT = 1000
EMAIL = {"from": "a@x.test", "to": ["b@x.test"], "subject": "Hello", "html": "<p>It works.</p>", "type": "transactional"}
SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"


def serve(pipe):
    """The server has a process of its own, so that it takes no time of the client's interpreter."""
    with Server(SENT) as server:
        pipe.send(server.url)
        while pipe.recv() != "stop":
            pipe.send((server.connections, server.open))


def bare(url):
    connection = http.client.HTTPConnection(url[7:])
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", "Idempotency-Key": "x"}
    for _ in range(COUNT):
        connection.request("POST", "/v1/emails", json.dumps(EMAIL), headers)
        json.loads(connection.getresponse().read())
    connection.close()


def library(url):
    with Client(KEY, url) as client:
        fields = {("from_" if name == "from" else name): value for name, value in EMAIL.items()}
        for _ in range(COUNT):
            client.emails.send(**fields)


def timed(function, *args):
    wall, cpu = time.perf_counter(), time.process_time()
    function(*args)
    return (time.perf_counter() - wall) * 1000 / COUNT, (time.process_time() - cpu) * 1000 / COUNT


def overhead(url, pipe):
    rounds = [(timed(bare, url), timed(library, url)) for _ in range(5)]
    floor, ours = ([statistics.median(one[which][n] for one in rounds) for n in range(2)] for which in range(2))
    pipe.send("count")
    before = pipe.recv()[0]
    library(url)
    pipe.send("count")
    connections = pipe.recv()[0] - before
    print(f"{COUNT} sends in a row: {connections} connection, {ours[0]:.3f} ms each; http.client alone {floor[0]:.3f} ms")
    print(f"client overhead: {ours[0] - floor[0]:.3f} ms of time, {ours[1] - floor[1]:.3f} ms of CPU")


def parallel(url, pipe):
    pipe.send("count")
    before = pipe.recv()[0]
    client = Client(KEY, url)
    barrier = threading.Barrier(100)

    def send():
        barrier.wait()
        for _ in range(10):
            client.emails.send(from_="a@x.test", to="b@x.test", subject="s", text="t", type="transactional")

    threads = [threading.Thread(target=send) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.close()
    time.sleep(0.2)
    pipe.send("count")
    connections, left = pipe.recv()
    print(f"100 in parallel: {connections - before} connections, {left} left after close()")


def import_time():
    standard = "http.client, urllib.parse, json, random, select, weakref, threading, keyword"
    code = "import time; import {}; t = time.perf_counter(); import postrider; print((time.perf_counter() - t) * 1000)"
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for name, modules in (("the standard modules it uses", standard), ("http.client", "http.client")):
        command = [sys.executable, "-c", code.format(modules)]
        runs = [float(subprocess.run(command, env=environment, capture_output=True, check=True).stdout) for _ in range(21)][1:]
        print(f"import over {name}: {statistics.median(runs):.1f} ms (median of 20, warm)")


def main():
    pipe, far = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(far,), daemon=True)
    server.start()
    url = pipe.recv()
    overhead(url, pipe)
    parallel(url, pipe)
    pipe.send("stop")
    import_time()
    size = sum(file.stat().st_size for file in (SOURCES / "postrider").iterdir() if file.is_file())
    print(f"size of the package: {size} bytes")


if __name__ == "__main__":
    main()
