"""The client for asyncio: the same core, run in threads."""

import asyncio
import concurrent.futures
import contextvars
import functools
import os
import time
from typing import Any, AsyncIterator, Callable, Coroutine, Dict, Generator, Mapping, Optional

from .client import Client
from .objects import Object
from .pages import Page
from .requests import Request
from .resource import Options
from .resources import Resources
from .streams import Stream
from .transport import Cancellation, Secret

MAX_THREADS = 32
"""Default for the maximum number of calls at the same time. Others wait for a thread."""


class AsyncClient(Resources):
    """``Client`` for asyncio, with the same options: methods are awaited, and lists and streams are iterated with ``async for``.

    ``max_threads`` is the number of calls, and so of connections, at the same time. A task that is canceled ends its call. Contents of
    attachments and uploads are read in the thread of the call.
    """

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        max_threads: int = MAX_THREADS,
        **options: Any,
    ) -> None:
        key = None if api_key is None else Secret(api_key)
        # As in Client: a traceback shows no key.
        del api_key
        self._client = Client(key, base_url, **options)  # type: ignore[arg-type]
        self._threads = _Threads(max_threads)
        super().__init__(self._start)

    def __repr__(self) -> str:
        return repr(self.__dict__.get("_client")).replace("Client", "AsyncClient")

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all connections and the calls that use them. Later calls are refused with an error of the type ``closed``."""
        self._client.close()
        self._threads.close()

    def _start(self, request: Request, options: Options) -> Any:
        if request.answer == "page":
            return AsyncList(self, request, options)
        return self._call(request, options)

    async def _call(self, request: Request, options: Options) -> Any:
        # The caller's own cancellation may be shared by other calls.
        own, started = Cancellation(), time.monotonic()
        result = await self._threads.run(lambda: self._client._run(request, options, time.monotonic() - started, own), own.cancel)
        return AsyncStream(result, self._threads) if isinstance(result, Stream) else result


class _Threads:
    """Runs blocking functions in a bounded number of threads. A forked child starts its own."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._process = 0
        self._executor: Optional[concurrent.futures.ThreadPoolExecutor] = None
        self._closed = False

    async def run(self, function: Callable[[], Any], cancel: Callable[[], None]) -> Any:
        if self._closed:
            # The client refuses the call itself, which takes no time.
            return function()
        if self._executor is None or self._process != os.getpid():
            self._process = os.getpid()
            self._executor = concurrent.futures.ThreadPoolExecutor(self._count, "postrider")
        context = contextvars.copy_context()
        future = asyncio.get_running_loop().run_in_executor(self._executor, functools.partial(context.run, function))
        try:
            return await future
        except asyncio.CancelledError:
            cancel()
            raise

    def close(self) -> None:
        self._closed = True
        if self._executor is not None and self._process == os.getpid():
            self._executor.shutdown(wait=False)


class AsyncPage(Object):
    """A page of a list. ``async for`` goes over its items and those of all pages behind it."""

    __slots__ = ("_list", "_page")

    def __init__(self, page: Page, source: "AsyncList") -> None:
        super().__init__(page)
        self._page = page
        self._list = source

    def __reduce__(self) -> Any:
        return (Object, (dict(self),))

    async def __aiter__(self) -> AsyncIterator[Any]:
        page: Optional[AsyncPage] = self
        while page is not None:
            for item in page["data"]:
                yield item
            page = await page.next_page()

    async def next_page(self) -> "Optional[AsyncPage]":
        """Fetch the page behind this one; None behind the last."""
        query = self._page.next_query()
        return None if query is None else await self._list.fetch(query)


class AsyncList:
    """A list: ``await`` gives its first page, and ``async for`` the items of all pages."""

    def __init__(self, client: AsyncClient, request: Request, options: Options) -> None:
        self._client = client
        self._request = request
        self._options = options

    async def fetch(self, query: Mapping[str, Any]) -> AsyncPage:
        page = await self._client._call(self._request._replace(query=query), self._options)
        return AsyncPage(page, self)

    def __await__(self) -> Generator[Any, None, AsyncPage]:
        return self.fetch(self._request.query).__await__()

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for item in await self.fetch(self._request.query):
            yield item


class AsyncStream:
    """A file of the daemon, open for reading. ``async for`` gives parts of bytes as they arrive."""

    def __init__(self, stream: Stream, threads: _Threads) -> None:
        self._stream = stream
        self._threads = threads
        self.headers: Dict[str, str] = stream.headers
        self.content_type = stream.content_type

    def _run(self, function: Callable[[], Any]) -> Coroutine[Any, Any, Any]:
        return self._threads.run(function, self._stream.abort)

    async def read(self, size: int = -1) -> bytes:
        """Read ``size`` bytes, fewer only at the end; all that is left without a size."""
        data: bytes = await self._run(lambda: self._stream.read(size))
        return data

    async def save(self, path: "os.PathLike[str] | str") -> int:
        """Write what is left to a new or replaced file, close the stream, and return the number of bytes."""
        size: int = await self._run(lambda: self._stream.save(path))
        return size

    async def close(self) -> None:
        """Give up what was not read."""
        self._stream.close()

    async def __aenter__(self) -> "AsyncStream":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stream.close()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            part: bytes = await self._run(self._stream.read1)
            if not part:
                return
            yield part
