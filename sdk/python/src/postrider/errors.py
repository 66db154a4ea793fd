"""The one type of error, and how an answer becomes one."""

import json
import time
from typing import Any, Dict, Mapping, Optional, Tuple

from .objects import Object

MAX_EXCERPT_CHARACTERS = 200
"""Maximum number of characters that a message quotes of an answer that is not an error of the daemon."""


class PostriderError(Exception):
    """A call that failed.

    ``type`` is the code of the answer, such as ``not_found``, or one of the library: ``connection_error``, ``timeout``, ``canceled``,
    ``invalid_response``, ``http_error``, ``insecure_base_url``, ``invalid_argument``, ``invalid_signature``, ``closed``.
    """

    def __init__(self, type: str, message: str, *, cause: Optional[BaseException] = None, **fields: Any) -> None:
        super().__init__(message)
        self.type = type
        self.message = message
        self.status: Optional[int] = fields.get("status")
        """HTTP status; None when there was no answer."""
        self.param: Optional[str] = fields.get("param")
        self.issues: Any = fields.get("issues")
        self.details: Any = fields.get("details")
        self.retry_after: Optional[int] = fields.get("retry_after")
        """Seconds after which the daemon wants to be asked again."""
        self.headers: Dict[str, str] = dict(fields.get("headers") or {})
        """Headers of the answer; the names are in lower case."""
        self.request_id: Optional[str] = self.headers.get("x-request-id") or fields.get("request_id")
        self.idempotency_key: Optional[str] = fields.get("idempotency_key")
        """Key of a send: a later call with the same key cannot send the email twice."""
        self.__cause__ = cause

    @property
    def cause(self) -> Optional[BaseException]:
        """Error of the language or the system behind this one."""
        return self.__cause__

    def __repr__(self) -> str:
        status = "" if self.status is None else f", status={self.status}"
        return f"PostriderError({self.type!r}, {self.message!r}{status})"

    def __reduce__(self) -> Tuple[Any, ...]:
        # Exceptions cross processes in pools of workers. The cause stays behind, because not every error can be pickled.
        return (PostriderError, (self.type, self.message), dict(self.__dict__))


def invalid_argument(message: str, param: Optional[str] = None) -> PostriderError:
    return PostriderError("invalid_argument", message, param=param)


def error_of_answer(status: int, headers: Mapping[str, str], body: bytes) -> PostriderError:
    """Error for an answer whose status is not 2xx."""
    common: Dict[str, Any] = {"status": status, "headers": headers, "retry_after": retry_after(headers)}
    error = _problem(body)
    if error:
        common.update({name: error.get(name) for name in ("param", "issues", "details")})
        return PostriderError(error["type"], error["message"], request_id=error.get("requestId"), **common)
    type = "http_error" if status >= 400 else "invalid_response"
    reason = "a redirect, which is never followed" if 300 <= status < 400 else "an answer without an error of the daemon"
    return PostriderError(type, f"The server sent {reason}: status {status}{excerpt(body)}", **common)


def _problem(body: bytes) -> Optional[Dict[str, Any]]:
    try:
        error = json.loads(body, object_hook=Object)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if isinstance(error, dict) and isinstance(error.get("type"), str) and isinstance(error.get("message"), str):
        return error
    return None


def excerpt(body: bytes) -> str:
    """Beginning of a body for a message, on one line."""
    text = " ".join(body[: 4 * MAX_EXCERPT_CHARACTERS].decode("utf-8", "replace").split())
    return f", with the body: {text[:MAX_EXCERPT_CHARACTERS]}" if text else ", with an empty body"


def retry_after(headers: Mapping[str, str]) -> Optional[int]:
    """Seconds of the header ``Retry-After``; None when it is absent, negative, in the past or unreadable."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if value.isascii() and value.isdigit():
        # A number of more digits is longer than every pause, and would only be slow to convert.
        return int(value[:12])
    now, then = _http_date(headers.get("date", "")), _http_date(value)
    if then is None:
        return None
    if now is None:
        now = time.time()
    # The difference to the date of the answer is right also when the clocks of client and server differ.
    return int(then - now + 0.999) if then > now else None


def _http_date(value: str) -> Optional[float]:
    from email.utils import mktime_tz, parsedate_tz

    try:
        parsed = parsedate_tz(value)
        return None if parsed is None else float(mktime_tz(parsed))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
