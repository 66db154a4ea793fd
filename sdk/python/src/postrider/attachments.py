"""Bodies of requests: JSON, in which contents of attachments are encoded as they are read, and files of uploads."""

import binascii
import json
import os
from typing import Any, Iterable, Iterator, List, Optional

from .errors import invalid_argument

PART_BYTES = 3 * 64 * 1024
"""Bytes that are encoded at once; a multiple of 3, so that the base64 of the parts can be joined."""

MAX_INLINE_CHARACTERS = 64 * 1024
"""Contents in base64 that are longer do not pass through the JSON encoder, which would copy them twice."""

Parts = List[bytes]


def encode_json(body: Any) -> Parts:
    """JSON of a body in parts. Contents of attachments that are bytes, files or streams become base64."""
    contents: List[Parts] = []
    mark = os.urandom(16).hex()
    text = _dump(_with_marks(body, mark, contents))
    if not contents:
        return [text]
    pieces = text.split(f'"{mark}"'.encode())
    parts: Parts = [pieces[0]]
    for content, piece in zip(contents, pieces[1:]):
        parts += [b'"', *content, b'"', piece]
    return parts


def _dump(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_default)
    except (TypeError, ValueError, RecursionError) as error:
        reason = str(error)
    else:
        # Only lone surrogates cannot be UTF-8. Python's escape of them is the one of JSON, which the daemon judges itself.
        return text.encode("utf-8", "backslashreplace")
    raise invalid_argument(f"the body cannot be JSON: {reason}")


def _default(value: Any) -> Any:
    text = time_text(value)
    if text is None:
        raise TypeError(f"a value of the type {type(value).__name__} has no form in JSON")
    return text


def time_text(value: Any) -> Optional[str]:
    """ISO 8601 of a ``datetime`` with a time zone; None for every other type."""
    if not hasattr(value, "utcoffset") or not hasattr(value, "isoformat") or not hasattr(value, "year"):
        return None
    if value.utcoffset() is None:
        raise ValueError("a datetime needs a time zone, such as datetime.now(timezone.utc)")
    return str(value.isoformat())


def _with_marks(body: Any, mark: str, contents: List[Parts]) -> Any:
    """A copy of the body that has the mark where a content belongs."""
    if not isinstance(body, dict):
        return body
    if isinstance(body.get("emails"), (list, tuple)):
        emails = [_email_with_marks(email, f"emails[{n}].", mark, contents) for n, email in enumerate(body["emails"])]
        return {**body, "emails": emails}
    return _email_with_marks(body, "", mark, contents)


def _email_with_marks(email: Any, where: str, mark: str, contents: List[Parts]) -> Any:
    if not isinstance(email, dict) or not isinstance(email.get("attachments"), (list, tuple)):
        return email
    attachments = []
    for number, attachment in enumerate(email["attachments"]):
        if isinstance(attachment, dict) and attachment.get("content") is not None:
            parts = _content(attachment["content"], f"{where}attachments[{number}].content")
            if parts is not None:
                contents.append(parts)
                attachment = {**attachment, "content": mark}
        attachments.append(attachment)
    return {**email, "attachments": attachments}


def _content(content: Any, param: str) -> Optional[Parts]:
    if isinstance(content, str):
        return None if len(content) <= MAX_INLINE_CHARACTERS else list(_escape(content))
    return list(_base64(_bytes_of(content, param)))


def _escape(text: str) -> Iterator[bytes]:
    for start in range(0, len(text), PART_BYTES):
        yield _dump(text[start : start + PART_BYTES])[1:-1]


def _base64(chunks: Iterable[Any]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        if rest:
            chunk = rest + bytes(chunk)
        whole = len(chunk) - len(chunk) % 3
        rest = bytes(chunk[whole:])
        for start in range(0, whole, PART_BYTES):
            yield binascii.b2a_base64(chunk[start : min(start + PART_BYTES, whole)], newline=False)
    if rest:
        yield binascii.b2a_base64(rest, newline=False)


def encode_upload(content: Any, param: str = "file") -> Parts:
    """Bytes of an upload, from text, bytes, a path, a file or a stream."""
    if isinstance(content, str):
        try:
            return [content.encode("utf-8")]
        except UnicodeEncodeError:
            raise invalid_argument("the text has a lone surrogate, which no encoding has", param) from None
    return [bytes(chunk) for chunk in _bytes_of(content, param)]


def _bytes_of(content: Any, param: str) -> Iterator[Any]:
    """The content in parts. Errors of the caller's file or stream pass through as they are."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        yield memoryview(content).cast("B")
    elif isinstance(content, os.PathLike):
        with open(content, "rb") as file:
            yield from _parts_of_file(file, param)
    elif hasattr(content, "read"):
        yield from _parts_of_file(content, param)
    elif hasattr(content, "__iter__") and not isinstance(content, (dict, list, tuple, set)):
        for chunk in content:
            yield _checked(chunk, param)
    else:
        raise invalid_argument(f"`{param}` must be bytes, a path, a file or a stream, and is {type(content).__name__}", param)


def _parts_of_file(file: Any, param: str) -> Iterator[Any]:
    while True:
        chunk = _checked(file.read(PART_BYTES), param)
        if len(chunk) == 0:
            return
        yield chunk


def _checked(chunk: Any, param: str) -> memoryview:
    if not isinstance(chunk, (bytes, bytearray, memoryview)):
        raise invalid_argument(f"`{param}` must give bytes: open files in binary mode, as in open(name, 'rb')", param)
    return memoryview(chunk).cast("B")
