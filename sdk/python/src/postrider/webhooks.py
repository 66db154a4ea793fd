"""Signatures of webhook deliveries and of posts to inbound routes. Nothing here needs a daemon."""

import json
import time as clock
from typing import Any, Optional, Union

from .errors import PostriderError, invalid_argument
from .objects import Object

TOLERANCE_SECONDS = 300
"""Maximum difference between the time of a signature and the clock."""

Body = Union[bytes, bytearray, memoryview, str]


def verify(body: Body, header: Optional[str], secret: str, tolerance: float = TOLERANCE_SECONDS) -> Any:
    """Verify the signature of a post and return its event.

    ``body`` is the raw body as it arrived, ``header`` the value of ``X-Service-Signature``, and ``secret`` that of the endpoint or route.
    Raises ``PostriderError`` of the type ``invalid_signature``. The body is not parsed before the signature is right.
    """
    raw = _raw(body)
    moment, signatures = _parse(header)
    # Whole seconds are compared, because exactly the tolerance is allowed and the clock has fractions.
    if abs(int(clock.time()) - int(moment)) > tolerance:
        raise _invalid("The signature is older or newer than the tolerance allows.")
    expected = _digest(moment, raw, secret)
    if not _contains(signatures, expected):
        raise _invalid("No signature of the header is that of the body under this secret.")
    try:
        event = json.loads(raw, object_hook=Object)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise _invalid("The body has the right signature and is no JSON object.")
    return event


def sign(body: Body, secret: str, time: Optional[float] = None) -> str:
    """Sign a body as the daemon does, for tests of a receiver. ``time`` is in Unix seconds; the default is now."""
    moment = str(int(clock.time() if time is None else time))
    return f"t={moment},v1={_digest(moment, _raw(body), secret)}"


def _raw(body: Body) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise invalid_argument("the body must be the raw bytes that arrived, not what they were parsed into", "body")


def _parse(header: Any) -> Any:
    if isinstance(header, (bytes, bytearray)):
        header = bytes(header).decode("latin-1")
    if not isinstance(header, str):
        raise _invalid("The header with the signature is missing.")
    moment, signatures = "", []
    for part in header.split(","):
        name, _, value = part.strip().partition("=")
        if name == "t":
            moment = moment or value
        elif name == "v1":
            signatures.append(value)
    if not (moment.isascii() and moment.isdigit() and len(moment) <= 15) or not signatures:
        raise _invalid("The header has no time or no signature: it is `t=SECONDS,v1=HEX`.")
    return moment, signatures


def _digest(moment: str, raw: bytes, secret: str) -> str:
    import hashlib
    import hmac

    if not isinstance(secret, str) or not secret:
        raise _invalid("The secret is empty or no string.")
    return hmac.new(secret.encode("utf-8", "surrogatepass"), moment.encode() + b"." + raw, hashlib.sha256).hexdigest()


def _contains(signatures: Any, expected: str) -> bool:
    import hmac

    found = False
    for signature in signatures:
        # Every signature is compared, so that the time says nothing about which one was right.
        found |= hmac.compare_digest(signature.encode("utf-8", "surrogatepass"), expected.encode())
    return found


def _invalid(message: str) -> PostriderError:
    return PostriderError("invalid_signature", message)
