import ssl
from os import PathLike
from typing import Any, AsyncIterator, Dict, Generator, Generic, List, Optional, TypeVar, Union

from .async_resources import AsyncResources
from .objects import Object

T = TypeVar("T")

class AsyncClient(AsyncResources):
    """``Client`` for asyncio, with the same options: methods are awaited, and lists and streams are iterated with ``async for``."""

    def __init__(
        self,
        api_key: Optional[str] = ...,
        base_url: Optional[str] = ...,
        *,
        max_threads: int = ...,
        timeout: float = ...,
        deadline: Optional[float] = ...,
        max_retries: int = ...,
        ssl_context: Optional[ssl.SSLContext] = ...,
    ) -> None: ...
    async def __aenter__(self) -> AsyncClient: ...
    async def __aexit__(self, *_: object) -> None: ...
    async def close(self) -> None: ...

class AsyncPage(Object, Generic[T]):
    data: List[T]
    has_more: bool
    next_cursor: Optional[str]
    def __aiter__(self) -> AsyncIterator[T]: ...
    async def next_page(self) -> Optional[AsyncPage[T]]: ...

class AsyncList(Generic[T]):
    """A list that was not asked for yet: ``await`` gives its first page, and ``async for`` the items of all pages."""

    def __await__(self) -> Generator[Any, None, AsyncPage[T]]: ...
    def __aiter__(self) -> AsyncIterator[T]: ...

class AsyncStream:
    headers: Dict[str, str]
    content_type: Optional[str]
    async def read(self, size: int = ...) -> bytes: ...
    async def save(self, path: Union[str, PathLike[str]]) -> int: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> AsyncStream: ...
    async def __aexit__(self, *_: object) -> None: ...
    def __aiter__(self) -> AsyncIterator[bytes]: ...
