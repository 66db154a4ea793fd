"""The client."""

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any, Optional, Set

from . import requests, retries
from .errors import PostriderError, invalid_argument
from .objects import Object
from .pages import Page
from .requests import Address, Encoded, Request
from .resource import Options
from .resources import Resources
from .streams import Stream
from .transport import Answer, Call, Cancellation, Pool, Secret

if TYPE_CHECKING:
    import ssl


class Client(Resources):
    """Client of one daemon with one API key, for any number of threads.

    Without arguments it reads ``SERVICE_API_KEY`` and ``SERVICE_BASE_URL``. ``timeout`` is the number of seconds that a try may take,
    ``deadline`` that of a whole call, ``max_retries`` the number of repeats, and ``ssl_context`` an ``ssl.SSLContext`` for certificates of
    an authority of your own.
    """

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        timeout: float = 30.0,
        deadline: Optional[float] = None,
        max_retries: int = 2,
        ssl_context: "Optional[ssl.SSLContext]" = None,
    ) -> None:
        key = Secret(os.environ.get("SERVICE_API_KEY", "") if api_key is None else api_key)
        self._key = key.value if isinstance(key.value, Secret) else key
        # The name is deleted, so that the traceback of a refusal does not have the key among its variables.
        del api_key
        if not isinstance(self._key.value, str) or not re.fullmatch(r"[\x21-\x7e]+", self._key.value):
            raise invalid_argument("the API key is missing or malformed: pass it, or set SERVICE_API_KEY", "api_key")
        if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
            raise invalid_argument("`max_retries` must be a whole number from 0", "max_retries")
        self._max_retries = max_retries
        self._settings = {"timeout": requests.check_seconds("timeout", timeout), "deadline": deadline}
        if deadline is not None:
            requests.check_seconds("deadline", deadline)
        self._address = Address(os.environ.get("SERVICE_BASE_URL", "") if base_url is None else base_url)
        if not self._address.secure and not self._key.value.startswith("svc_dev_") and not self._address.is_this_machine:
            raise PostriderError("insecure_base_url", f"A live key is not sent over plain http to {self._address.host}: use https.")
        make_tls = (lambda: ssl_context or _default_tls()) if self._address.secure else None
        self._pool = Pool(self._address.host, self._address.port, make_tls)
        self._calls: Set[Call] = set()
        super().__init__(self._run)

    def __repr__(self) -> str:
        # A traceback may show a client whose constructor has refused its arguments.
        address = self.__dict__.get("_address")
        return f"<postrider.Client of {address.authority if address else 'no address'}>"

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all connections and the calls that use them. Later calls are refused with an error of the type ``closed``."""
        self._pool.close()
        for call in list(self._calls):
            call.abort("closed")

    def _run(self, request: Request, options: Options, waited: float = 0, cancellation: Optional[Cancellation] = None) -> Any:
        if self._pool.closed:
            raise PostriderError("closed", "The client is closed.")
        encoded = requests.encode(self._address, self._key, request, {**self._settings, **(options or {})})
        call = Call(time.monotonic() - waited + encoded.deadline, (options or {}).get("cancellation"), cancellation)
        self._calls.add(call)
        # close() may have come between the first look and the entry of the call.
        if self._pool.closed:
            call.abort("closed")
        result = error = None
        try:
            result = self._result(encoded, call, options)
        except PostriderError as problem:
            error = problem
        finally:
            if not isinstance(result, Stream):
                self._finish(call)
        if error is not None:
            raise self._without_key(error, encoded.key)
        return result

    def _finish(self, call: Call) -> None:
        self._calls.discard(call)
        call.finish()

    def _result(self, encoded: Encoded, call: Call, options: Options) -> Any:
        request = encoded.request
        answer, body = retries.run(self._pool, call, encoded, self._max_retries)
        if answer is None or request.answer == "none":
            return None
        if request.answer == "stream":
            answer.start_stream(encoded.timeout, lambda: self._finish(call))
            return Stream(answer)
        result = _parse(answer, body)
        if encoded.key is not None:
            result["idempotencyKey"] = encoded.key
        if request.answer == "page":
            if not isinstance(result.get("data"), list):
                raise answer.unusable("has no list `data`", body)
            return Page(result, lambda query: self._run(request._replace(query=query), options), dict(request.query))
        return result

    def _without_key(self, error: PostriderError, idempotency_key: Optional[str]) -> PostriderError:
        """The error without the API key, which a server or proxy may have quoted."""
        for name, value in list(error.__dict__.items()):
            setattr(error, name, _hide(value, self._key))
        error.args = (error.message,)
        error.idempotency_key = idempotency_key
        return error


def _parse(answer: Answer, body: bytes) -> Object:
    try:
        result = json.loads(body, object_hook=Object)
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, Object):
        raise answer.unusable("is no JSON object", body)
    return result


def _hide(value: Any, key: Secret) -> Any:
    if isinstance(value, str):
        return value.replace(key.value, "<key>")
    if isinstance(value, dict):
        return type(value)((name, _hide(item, key)) for name, item in value.items())
    return [_hide(item, key) for item in value] if isinstance(value, list) else value


def _default_tls() -> Any:
    import ssl

    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
