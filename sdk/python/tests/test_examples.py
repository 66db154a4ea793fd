"""The examples and those of the README run word for word: against a daemon where they need one."""

import contextlib
import io
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

from .support import KEY

from postrider import webhooks

FOLDER = pathlib.Path(__file__).resolve().parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text("utf-8"), re.S)
SECRET = "whsec_test"
BODY = b'{"type":"email.delivered","data":{"emailId":"em_1"}}'


def run(*command, **variables):
    environment = {**os.environ, "PYTHONPATH": str(FOLDER / "src"), **variables}
    return subprocess.Popen([sys.executable, *command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class WithDaemon(unittest.TestCase):
    def setUp(self):
        if not os.environ.get("CONTRACT_BASE_URL"):
            self.skipTest("needs a daemon")
        self.daemon = {"SERVICE_BASE_URL": os.environ["CONTRACT_BASE_URL"], "SERVICE_API_KEY": os.environ.get("CONTRACT_KEY", KEY)}

    def check(self, expected, *command):
        process = run(*command, **self.daemon)
        output = process.communicate(timeout=30)[0]
        self.assertEqual(process.returncode, 0, output)
        self.assertRegex(output, expected)

    def test_first_example_of_the_readme(self):
        self.check(r"^em_\w+ queued\n$", "-c", BLOCKS[0])

    def test_send(self):
        self.check(r"^em_\w+ delivered\n$", str(FOLDER / "examples" / "send.py"))

    def test_send_async(self):
        self.check(r"^(em_\w+\n){10}\['Hello \d'", str(FOLDER / "examples" / "send_async.py"))


class Webhooks(unittest.TestCase):
    def test_example_of_the_readme(self):
        names = {}
        exec(BLOCKS[1], names)
        output = io.StringIO()
        good = {"X-Service-Signature": webhooks.sign(BODY, SECRET)}
        with contextlib.redirect_stdout(output):
            statuses = [names["receive"](*case, SECRET) for case in ((BODY, good), (BODY + b" ", good), (BODY, {}))]
        self.assertEqual((statuses, output.getvalue()), ([200, 400, 400], "email.delivered em_1\n"))

    def test_receiver(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        receiver = run(str(FOLDER / "examples" / "webhook_receiver.py"), WEBHOOK_SECRET=SECRET, PORT=str(port))
        try:
            statuses = [self.post(port, webhooks.sign(BODY, secret, when)) for secret, when in ((SECRET, None), ("other", None), (SECRET, time.time() - 400))]
            self.assertEqual(statuses, [200, 400, 400])
        finally:
            receiver.terminate()
            output = receiver.communicate(timeout=10)[0]
        self.assertEqual([line.split()[-1] for line in output.splitlines()], ["True", "False", "False"])

    def post(self, port, header):
        for _ in range(100):
            try:
                request = urllib.request.Request(f"http://127.0.0.1:{port}", BODY, {"X-Service-Signature": header})
                with urllib.request.urlopen(request, timeout=5) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                return error.code
            except urllib.error.URLError:
                time.sleep(0.1)
        return None
