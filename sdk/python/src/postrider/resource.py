"""What all resources share."""

from typing import Any, Callable, Dict, Mapping, Optional

from .objects import camel
from .requests import Request

Options = Optional[Mapping[str, Any]]
"""Options of a call: ``idempotency_key`` (of a send), ``timeout`` of a try and ``deadline`` of the call in seconds, and ``cancellation``."""

Run = Callable[[Request, Options], Any]


class Resource:
    """Builds the requests of its operations. The client runs them: at once, or in a thread for ``AsyncClient``."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def _json(self, options: Options, method: str, *path: Any, query: Optional[Dict[str, Any]] = None, body: Any = None) -> Any:
        body = wire(body) if isinstance(body, dict) else body
        keyed = method == "POST" and path in (("emails",), ("emails", "batch"))
        return self._run(Request(method, path, "json", wire(query or {}), body, keyed), options)

    def _page(self, options: Options, query: Dict[str, Any], *path: Any) -> Any:
        return self._run(Request("GET", path, "page", wire(query)), options)

    def _stream(self, options: Options, query: Dict[str, Any], *path: Any) -> Any:
        return self._run(Request("GET", path, "stream", wire(query)), options)

    def _delete(self, options: Options, *path: Any) -> Any:
        return self._run(Request("DELETE", path, "none"), options)


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
"""Default of a keyword. None is sent as null, which removes a value in an update."""


def wire(fields: Dict[str, Any]) -> Dict[str, Any]:
    """Keywords with their names on the wire. Values stay as they are."""
    return {camel(name): value for name, value in fields.items() if value is not ABSENT}
