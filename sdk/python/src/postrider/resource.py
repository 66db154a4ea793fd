"""What all resources share."""

from typing import Any, Callable, Dict, Mapping, Optional

from .objects import camel
from .pages import Page
from .requests import Request
from .streams import Stream

Options = Optional[Mapping[str, Any]]
"""Options of a call: ``idempotency_key`` (of a send), ``timeout`` of a try and ``deadline`` of the call in seconds, and ``cancellation``."""

Fields = Dict[str, Any]
Run = Callable[[Request, Options], Any]


class Resource:
    """Builds the requests of its operations. The client runs them: at once, or in a thread for ``AsyncClient``.

    Keywords of methods are the fields of body and query in snake case; ``None`` is sent as null, which removes a value in an update. Their types are in
    the package ``postrider-stubs``, which is for type checkers alone.
    """

    _path = ""
    """First segment of the path of every operation."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def _json(self, options: Options, method: str, path: Any, query: Optional[Fields] = None, body: Optional[Fields] = None) -> Any:
        content = wire(body) if isinstance(body, dict) else body
        keyed = method == "POST" and (self._path == "emails" and path in ((), ("batch",)) or "drafts" in path)
        return self._run(Request(method, (self._path, *path), "json", wire(query or {}), content, keyed), options)

    def _get(self, options: Options, *path: Any, query: Optional[Fields] = None) -> Any:
        return self._json(options, "GET", path, query)

    def _post(self, options: Options, *path: Any, **content: Any) -> Any:
        return self._json(options, "POST", path, **content)

    def _patch(self, options: Options, *path: Any, body: Fields) -> Any:
        return self._json(options, "PATCH", path, body=body)

    def _put(self, options: Options, *path: Any, body: Fields) -> Any:
        return self._json(options, "PUT", path, body=body)

    def _page(self, options: Options, query: Fields, *path: Any) -> Page:
        return self._run(Request("GET", (self._path, *path), "page", wire(query)), options)  # type: ignore[no-any-return]

    def _stream(self, options: Options, query: Fields, *path: Any) -> Stream:
        return self._run(Request("GET", (self._path, *path), "stream", wire(query)), options)  # type: ignore[no-any-return]

    def _delete(self, options: Options, *path: Any) -> None:
        return self._run(Request("DELETE", (self._path, *path), "none"), options)  # type: ignore[no-any-return]


def wire(fields: Fields) -> Fields:
    """Keywords with their names on the wire. Values stay as they are."""
    return {camel(name): value for name, value in fields.items()}
