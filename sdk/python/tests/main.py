"""Runs all tests, prints a line for each that failed, and ends with a line of JSON."""

import json
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, os.path.join(HERE, "..", "src"))


class Result(unittest.TestResult):
    """Counts what passed, because versions of Python differ in whether they count what was skipped."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    names = sys.argv[1:]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(HERE, top_level_dir=os.path.join(HERE, ".."))
    result = Result()
    started = time.monotonic()
    suite.run(result)
    failed = [*result.failures, *result.errors, *[(test, "succeeded against expectation") for test in result.unexpectedSuccesses]]
    for test, reason in failed:
        print(f"not ok {test}: {reason.strip().splitlines()[-1]}")
        if os.environ.get("TEST_TRACE"):
            print(reason)
    print(f"{time.monotonic() - started:.1f} s with Python {sys.version.split()[0]}", file=sys.stderr)
    fail = len({str(test) for test, _ in failed})
    print(json.dumps({"tests": result.passed + fail, "pass": result.passed, "fail": fail}))
    sys.exit(0 if result.passed and not fail else 1)


if __name__ == "__main__":
    main()
