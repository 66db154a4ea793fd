"""Pages of lists."""

from typing import Any, Callable, Dict, Iterator, Optional

from .objects import Object


class Page(Object):
    """A page of a list: ``data``, ``has_more`` and ``next_cursor``.

    Iteration goes over the items of this page and of all that follow, which are fetched when they are needed. With ``ending_before`` it
    goes towards newer items.
    """

    __slots__ = ("_fetch", "_query")

    def __init__(self, answer: Any, fetch: Callable[[Dict[str, Any]], "Page"], query: Dict[str, Any]) -> None:
        super().__init__(answer)
        self._fetch = fetch
        self._query = query

    def __iter__(self) -> Iterator[Any]:
        page: Optional[Page] = self
        while page is not None:
            yield from page["data"]
            page = page.next_page()

    def __reduce__(self) -> Any:
        # A page that is copied or pickled is the answer alone, because its client cannot come along.
        return (Object, (dict(self),))

    def next_page(self) -> Optional["Page"]:
        """Fetch the page behind this one; None behind the last."""
        query = self.next_query()
        return None if query is None else self._fetch(query)

    def next_query(self) -> Optional[Dict[str, Any]]:
        """Query of the page behind this one; None behind the last."""
        if not self.get("hasMore"):
            return None
        name = "endingBefore" if self._query.get("endingBefore") is not None else "startingAfter"
        cursor = self._first_id() if name == "endingBefore" else self.get("nextCursor")
        # A cursor that does not move would ask for the same page for ever.
        if cursor is None or cursor == self._query.get(name):
            return None
        return {**self._query, name: cursor}

    def _first_id(self) -> Any:
        items = self["data"]
        return items[0].get("id") if items and isinstance(items[0], dict) else None
