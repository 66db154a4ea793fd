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
    pass


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
    tests = result.testsRun - len(result.skipped)
    print(json.dumps({"tests": tests, "pass": tests - fail, "fail": fail}))
    sys.exit(1 if fail or not tests else 0)


if __name__ == "__main__":
    main()
