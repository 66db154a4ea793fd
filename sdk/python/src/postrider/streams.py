"""Answers that are read as they arrive: raw messages, attachments and files of exports."""

import io
import os
from typing import Any, Dict, Iterator, Optional

PART_BYTES = 64 * 1024
"""Maximum number of bytes of one part."""


class Stream(io.BufferedIOBase):
    """A file of the daemon, open for reading. It keeps its connection until it is read to its end or closed.

    Iteration gives parts of bytes as they arrive. It is also a binary file: ``io.TextIOWrapper(stream, "utf-8", newline="")`` gives lines
    for the module ``csv``. An answer that ends too early raises an error, so that a short file never looks whole.
    """

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self._rest = b""
        self.headers: Dict[str, str] = answer.headers
        """Headers of the answer; the names are in lower case."""

    @property
    def content_type(self) -> Optional[str]:
        return self.headers.get("content-type")

    def readable(self) -> bool:
        return True

    def read1(self, size: Optional[int] = -1) -> bytes:
        """Next part, of at most ``size`` bytes; empty at the end."""
        if self.closed:
            raise ValueError("the stream is closed")
        if size == 0:
            return b""
        part = self._rest or self._answer.read_part(PART_BYTES)
        self._rest = b""
        if size is not None and 0 < size < len(part):
            part, self._rest = part[:size], part[size:]
        return bytes(part)

    def read(self, size: Optional[int] = -1) -> bytes:
        """Read ``size`` bytes, fewer only at the end; all that is left without a size."""
        parts, left = [], size if size is not None and size >= 0 else None
        while left is None or left > 0:
            part = self.read1(-1 if left is None else left)
            if not part:
                break
            parts.append(part)
            left = None if left is None else left - len(part)
        return b"".join(parts)

    def __iter__(self) -> Iterator[bytes]:  # type: ignore[override]
        return self

    def __next__(self) -> bytes:
        part = self.read1()
        if not part:
            raise StopIteration
        return part

    def save(self, path: "os.PathLike[str] | str") -> int:
        """Write what is left to a new or replaced file, close the stream, and return the number of bytes."""
        with self, open(path, "wb") as file:
            return sum(file.write(part) for part in self)

    def close(self) -> None:
        """Give up what was not read. The connection is kept only when everything was."""
        answer = self.__dict__.get("_answer")
        if answer is not None and not self.closed:
            answer.close()
        super().close()

    def abort(self) -> None:
        """End the stream from another thread, whose reading raises an error of the type ``canceled``."""
        self._answer.abort()
