"""What a call sends: its address, head and body."""

import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import quote, urlencode, urlsplit

from . import attachments
from ._version import __version__
from .errors import invalid_argument
from .transport import Cancellation, Secret

DEADLINE_SECONDS = 120.0
BODY_BYTES_PER_SECOND = 100_000
"""A try may take one second more for this many bytes of its body."""


class Request(NamedTuple):
    """A call before its tries."""

    method: str
    path: Tuple[Any, ...]
    answer: str
    """``json``, ``page``, ``stream`` or ``none``."""
    query: Mapping[str, Any] = {}
    body: Any = None
    """A dict that becomes JSON, an ``Upload``, or None."""
    keyed: bool = False
    """True for sends, which have an idempotency key."""

    @property
    def is_repeatable(self) -> bool:
        """False when the daemon may do it twice, so that it is repeated only after what surely did nothing."""
        return self.method != "POST" or self.keyed


class Upload(NamedTuple):
    """File of an upload."""

    content: Any


class Encoded(NamedTuple):
    """A request as it is sent by every try."""

    request: Request
    head: Secret
    parts: List[bytes]
    size: int
    timeout: float
    deadline: float
    key: Optional[str]


class Address:
    """The address of a daemon."""

    def __init__(self, base_url: Any) -> None:
        try:
            url = urlsplit(base_url if isinstance(base_url, str) else "")
            host, port = url.hostname or "", url.port
            host.encode("idna" if not host.isascii() else "ascii")
        except (ValueError, UnicodeError):
            url, host, port = urlsplit(""), "", None
        if url.scheme not in ("http", "https") or not host or re.search(r"[\s\x00-\x1f\x7f]", base_url):
            raise invalid_argument(
                "the address is missing or no http or https URL: pass `base_url`, or set SERVICE_BASE_URL", "base_url"
            )
        if url.query or url.fragment or url.username is not None:
            raise invalid_argument("the address of the daemon may have a path, and no query, fragment or user", "base_url")
        self.secure = url.scheme == "https"
        self.host = host if host.isascii() else host.encode("idna").decode()
        self.port = port if port is not None else 443 if self.secure else 80
        self.path = quote(url.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
        name = f"[{self.host}]" if ":" in self.host else self.host
        self.authority = name if self.port == (443 if self.secure else 80) else f"{name}:{self.port}"

    @property
    def is_this_machine(self) -> bool:
        numbers = self.host.split(".")
        if numbers[0] == "127" and len(numbers) == 4:
            return all(number.isdigit() and len(number) <= 3 and int(number) <= 255 for number in numbers)
        return self.host in ("localhost", "::1") or self.host.endswith(".localhost")

    def target(self, request: Request) -> str:
        path = "/".join(_segment(segment) for segment in request.path)
        query = {name: _query_text(name, value) for name, value in request.query.items() if value is not None}
        try:
            suffix = "?" + urlencode(query, quote_via=quote, safe="") if query else ""
        except UnicodeEncodeError:
            suffix = None
        if suffix is None:
            raise invalid_argument("the query has a lone surrogate, which no URL can have")
        return f"{self.path}/v1/{path}{suffix}"


def _segment(value: Any) -> str:
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    # An empty segment would ask another path, and so would dots, which a proxy resolves even when they are percent-encoded.
    if text in ("", ".", ".."):
        raise invalid_argument(f"a parameter of the path must be an id, and is {value!r}")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        pass
    raise invalid_argument("a parameter of the path has a lone surrogate, which no URL can have")


def _query_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    try:
        text = attachments.time_text(value)
    except ValueError as error:
        problem = str(error)
    else:
        if text is not None:
            return text
        problem = f"it is {type(value).__name__}"
    raise invalid_argument(f"`{name}` must be a string, number, boolean or datetime: {problem}", name)


def encode(address: Address, key: Secret, request: Request, settings: Mapping[str, Any]) -> Encoded:
    """Check a call and encode it once for all tries."""
    unknown = set(settings) - {"timeout", "deadline", "idempotency_key", "cancellation"}
    if unknown:
        raise invalid_argument(f"`options` has no {sorted(unknown)[0]!r}", "options")
    if not isinstance(settings.get("cancellation"), (Cancellation, type(None))):
        raise invalid_argument("`cancellation` must be a postrider.Cancellation", "options")
    idempotency_key = _idempotency_key(settings.get("idempotency_key")) if request.keyed else None
    target, media_type, parts = address.target(request), None, []
    if isinstance(request.body, Upload):
        media_type, parts = "text/csv", attachments.encode_upload(request.body.content)
    elif request.body is not None:
        media_type, parts = "application/json", attachments.encode_json(request.body)
    size = sum(map(len, parts))
    timeout = check_seconds("timeout", settings["timeout"]) + size // BODY_BYTES_PER_SECOND
    deadline = settings.get("deadline")
    deadline = max(DEADLINE_SECONDS, 2 * timeout) if deadline is None else check_seconds("deadline", deadline)
    fields = {
        "Host": address.authority,
        "User-Agent": f"postrider-python/{__version__}",
        "Accept": "*/*" if request.answer == "stream" else "application/json",
        "Accept-Encoding": "identity",
    }
    if media_type is not None:
        fields["Content-Type"] = media_type
    if request.method != "GET":
        fields["Content-Length"] = str(size)
    if idempotency_key is not None:
        fields["Idempotency-Key"] = idempotency_key
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    head = Secret(f"{request.method} {target} HTTP/1.1\r\n{lines}Authorization: Bearer {key.value}\r\n\r\n".encode("ascii"))
    return Encoded(request, head, parts, size, timeout, deadline, idempotency_key)


def check_seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
        raise invalid_argument(f"`{name}` must be a positive number of seconds", name)
    return float(value)


def _idempotency_key(value: Any) -> str:
    if value is None:
        return "python-" + os.urandom(16).hex()
    if not isinstance(value, str) or not re.fullmatch(r"[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?", value):
        raise invalid_argument("`idempotency_key` must have 1 to 256 printable characters of ASCII", "idempotency_key")
    return value
