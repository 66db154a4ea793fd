"""The official Python client of Postrider, a mail appliance that you host yourself."""

from typing import TYPE_CHECKING, Any

from . import webhooks
from ._version import __version__
from .client import Client
from .errors import PostriderError
from .objects import Object
from .pages import Page
from .streams import Stream
from .transport import Cancellation

if TYPE_CHECKING:
    from .aio import AsyncClient, AsyncPage, AsyncStream

__all__ = ["AsyncClient", "Cancellation", "Client", "Object", "Page", "PostriderError", "Stream", "__version__", "webhooks"]


def __getattr__(name: str) -> Any:
    # asyncio takes longer to import than the rest of the library together, so only programs that use it pay for it.
    if name in ("AsyncClient", "AsyncPage", "AsyncStream"):
        from . import aio

        return getattr(aio, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
