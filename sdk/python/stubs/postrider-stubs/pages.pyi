from typing import Any, Dict, Generic, Iterator, List, Optional, TypeVar

from .objects import Object

T = TypeVar("T")

class Page(Object, Generic[T]):
    """A page of a list. Iteration goes over its items and those of all pages behind it."""

    data: List[T]
    has_more: bool
    next_cursor: Optional[str]
    def __iter__(self) -> Iterator[T]: ...  # type: ignore[override]
    def next_page(self) -> Optional[Page[T]]: ...
    def next_query(self) -> Optional[Dict[str, Any]]: ...
