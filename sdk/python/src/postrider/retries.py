"""The tries of a call: which failures are repeated, and after which pause."""

import random
import time
from typing import Optional, Tuple

from .errors import PostriderError, error_of_answer
from .requests import Encoded
from .transport import Answer, Call, Failure, Pool, try_once

MAX_PAUSE_SECONDS = 30
"""A longer ``Retry-After`` ends the call, and the error has it."""

FIRST_PAUSE_SECONDS = 0.5

Result = Tuple[Optional[Answer], bytes]


def run(pool: Pool, call: Call, encoded: Encoded, max_retries: int) -> Result:
    """Answer of a call with its body; the body is empty for a stream, and the answer None for what was deleted by an earlier try."""
    repeats, replaced, fresh = 0, False, False
    while True:
        call.check()
        try:
            return _run_once(pool, call, encoded, fresh)
        except Failure as problem:
            failure = problem
        call.check()
        if encoded.request.method == "DELETE" and (repeats or replaced) and (failure.error.status, failure.error.type) == (404, "not_found"):
            return None, b""
        if failure.acted == "yes" or (failure.acted == "maybe" and not encoded.request.is_repeatable):
            raise failure.error
        if failure.stale and not replaced:
            # The server closed a kept connection, which says nothing about the server, so there is no pause and no repeat is used up.
            replaced = fresh = True
            continue
        pause = _pause(repeats, failure.error)
        if repeats >= max_retries or pause is None or time.monotonic() + pause >= call.deadline:
            raise failure.error
        repeats, fresh = repeats + 1, False
        call.wait(pause)


def _pause(repeats: int, error: PostriderError) -> Optional[float]:
    pause = FIRST_PAUSE_SECONDS * 2.0**repeats * random.uniform(0.5, 1)
    if error.retry_after is None:
        return pause
    return None if error.retry_after > MAX_PAUSE_SECONDS else max(pause, float(error.retry_after))


def _run_once(pool: Pool, call: Call, encoded: Encoded, fresh: bool) -> Result:
    limit = min(time.monotonic() + encoded.timeout, call.deadline)
    answer = try_once(pool, call, encoded, limit, fresh)
    if 200 <= answer.status < 300:
        if answer.is_compressed:
            raise Failure(answer.unusable("is compressed, although that was not asked for"), "yes")
        if encoded.request.answer == "stream":
            return answer, b""
        body, lost = answer.read_all()
        if lost is not None:
            raise lost
        return answer, body
    body, lost = (b"", None) if answer.is_compressed else answer.read_all()
    answer.close()
    if lost is not None and lost.acted == "maybe":
        # An error that was cut off may have been any.
        raise lost
    error = error_of_answer(answer.status, answer.headers, body)
    raise Failure(error, _acted(answer.status, error.type))


def _acted(status: int, type: str) -> str:
    if (status, type) in ((429, "rate_limited"), (503, "unavailable")):
        return "no"
    if status == 408 or status >= 500 or (status, type) == (409, "idempotency_in_progress"):
        return "maybe"
    return "yes"


