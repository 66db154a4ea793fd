"""Connections that are kept, and one try of a request."""

import http.client
import io
import os
import select
import socket
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Set, Tuple

from .errors import PostriderError, excerpt

if TYPE_CHECKING:
    from .requests import Encoded

MAX_IDLE_SECONDS = 60.0
"""Time after its last answer in which a connection is used again. The daemon closes its side after 75 seconds."""

MAX_CONNECT_SECONDS = 10.0
"""Maximum time for each address of a host but the last."""

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Maximum size of an answer in JSON."""

READ_BYTES = 256 * 1024
MAX_JOINED_BYTES = 64 * 1024
"""Bodies up to this size leave together with their head in one write."""

TIMEOUTS = (socket.timeout, TimeoutError)


class Secret:
    """Text that appears in no representation and cannot be pickled."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "<secret>"

    def __reduce__(self) -> Any:
        raise TypeError("a client of Postrider cannot be copied or pickled: make another one")


class Cancellation:
    """Ends calls from another thread: pass it as ``options={"cancellation": it}`` and call ``cancel()``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Set["Call"] = set()
        self.canceled = False

    def cancel(self) -> None:
        """End all calls that have this cancellation, now and later, with an error of the type ``canceled``."""
        with self._lock:
            self.canceled = True
            calls = list(self._calls)
        for call in calls:
            call.abort("canceled")

    def add(self, call: "Call") -> None:
        with self._lock:
            self._calls.add(call)
        if self.canceled:
            call.abort("canceled")

    def discard(self, call: "Call") -> None:
        with self._lock:
            self._calls.discard(call)


class Call:
    """A call that runs, and the connection to cut when it must end at once."""

    __slots__ = ("_cancellations", "_connection", "_event", "_lock", "deadline", "reason")

    def __init__(self, deadline: float, *cancellations: Optional[Cancellation]) -> None:
        self.deadline = deadline
        self._cancellations = [one for one in cancellations if one]
        self.reason: Optional[str] = None
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._connection: Optional["Connection"] = None
        for one in self._cancellations:
            one.add(self)

    def abort(self, reason: str) -> None:
        with self._lock:
            self.reason = self.reason or reason
            connection = self._connection
        self._event.set()
        if connection is not None:
            connection.shut_down()

    def use(self, connection: Optional["Connection"]) -> None:
        with self._lock:
            self._connection = connection
        if self.reason is not None and connection is not None:
            connection.shut_down()

    def wait(self, seconds: float) -> None:
        self._event.wait(seconds)

    def check(self) -> None:
        if self.reason is not None:
            raise self.ended()

    def ended(self) -> PostriderError:
        message = "The client is closed." if self.reason == "closed" else "The call was canceled."
        return PostriderError(self.reason or "canceled", message)

    def finish(self) -> None:
        for one in self._cancellations:
            one.discard(self)


class Failure(Exception):
    """A try that failed. ``acted``: ``no`` when it surely did nothing, ``maybe`` when a harmless one may be repeated, else ``yes``."""

    def __init__(self, error: PostriderError, acted: str, stale: bool = False) -> None:
        super().__init__()
        self.error = error
        self.acted = acted
        self.stale = stale
        """True when a kept connection died before a byte of the answer."""


class Connection:
    """A socket, with the time by which it must have sent and received."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.limit = 0.0
        self.idle: Optional[float] = None
        """Seconds that each part of a stream may take; None before the head of a stream, and for answers in JSON."""
        self.last_used = 0.0
        self.reused = False
        self.answered = False
        self.ended = False
        """True once the server has closed its side."""

    def left(self) -> float:
        left = self.limit - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        return left

    def send(self, encoded: "Encoded") -> None:
        self.answered = False
        self.sock.settimeout(self.left())
        # No variable has the head, because a traceback would show its key.
        if encoded.size <= MAX_JOINED_BYTES:
            self.sock.sendall(b"".join((encoded.head.value, *encoded.parts)))
            return
        self.sock.sendall(encoded.head.value)
        for part in encoded.parts:
            self.sock.settimeout(self.left())
            self.sock.sendall(part)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """File of the next answer. This is the name that ``http.client`` calls."""
        return io.BufferedReader(_Reader(self), 65536)

    def is_usable(self) -> bool:
        """False when the server has closed an idle connection, or has sent what nobody asked for."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self.sock, select.POLLIN)
            return not poll.poll(0)
        return not select.select([self.sock], [], [], 0)[0]

    def shut_down(self) -> None:
        """End both directions, which wakes the thread that waits for them, also when a forked process holds a copy of the socket."""
        try:
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        try:
            self.sock.close()
        except OSError:
            pass


class _Reader(io.RawIOBase):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        connection = self._connection
        if connection.idle is not None:
            connection.limit = time.monotonic() + connection.idle
        connection.sock.settimeout(connection.left())
        size = connection.sock.recv_into(buffer)
        if size:
            connection.answered = True
        else:
            connection.ended = True
        return size


class Answer:
    """The head of an answer, and its body as it arrives."""

    def __init__(self, pool: "Pool", connection: Connection, response: http.client.HTTPResponse, call: Call) -> None:
        self.status = response.status
        self.headers: Dict[str, str] = {}
        for name, value in response.getheaders():
            known = self.headers.get(name.lower())
            self.headers[name.lower()] = value if known is None else f"{known}, {value}"
        self._pool = pool
        self._connection: Optional[Connection] = connection
        self._response = response
        self._call = call
        self._left = None if response.chunked else response.length  # type: ignore[attr-defined]
        self._on_close: Optional[Callable[[], None]] = None

    def read_part(self, size: int) -> bytes:
        """Next bytes of the body; empty at its end. An answer that ends too early raises an error."""
        if self._connection is None or self._left == 0:
            self.close()
            return b""
        try:
            part = self._response.read1(size if self._left is None else min(size, self._left))
        except (OSError, http.client.HTTPException, ValueError) as error:
            failure = self._lost(error)
        except BaseException:
            # An interrupt from the keyboard leaves the answer half read, so its connection cannot be kept.
            self.close()
            raise
        else:
            if part:
                if self._left is not None:
                    self._left -= len(part)
                return part
            if self._left is None:
                self._left = 0
                self.close()
                return b""
            failure = self._lost(None)
        self.close()
        raise failure

    def _lost(self, error: Optional[BaseException]) -> PostriderError:
        if self._call.reason is not None:
            return self._call.ended()
        type, message = "connection_error", f"The answer was cut off: status {self.status}."
        if isinstance(error, TIMEOUTS):
            type, message = "timeout", "The answer took too long."
        # Exceptions of http.client quote what they have read, which may be long and may echo secrets.
        cause = _bare(error) if isinstance(error, OSError) else None
        return PostriderError(type, message, cause=cause, status=self.status, headers=self.headers)

    @property
    def is_compressed(self) -> bool:
        return self.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity")

    def read_all(self) -> Tuple[bytes, Optional[Failure]]:
        """The body of an answer in JSON, and why it ended when it is not whole."""
        body = bytearray()
        while len(body) <= MAX_ANSWER_BYTES and (self._left or 0) <= MAX_ANSWER_BYTES:
            try:
                part = self.read_part(READ_BYTES)
            except PostriderError as error:
                failure = Failure(error, "maybe")
                break
            if not part:
                return bytes(body), None
            body += part
        else:
            failure = Failure(self.unusable(f"is larger than {MAX_ANSWER_BYTES} bytes"), "yes")
        return bytes(body), failure

    def unusable(self, reason: str, body: Optional[bytes] = None) -> PostriderError:
        self.close()
        message = f"The answer {reason}: status {self.status}{'' if body is None else excerpt(body)}"
        return PostriderError("invalid_response", message, status=self.status, headers=self.headers)

    def start_stream(self, idle: float, on_close: Callable[[], None]) -> None:
        """Give each part as much time as the head had. ``on_close`` is called when the stream has ended."""
        self._on_close = on_close
        if self._connection is not None:
            self._connection.idle = idle

    def abort(self) -> None:
        self._call.abort("canceled")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        self._call.use(None)
        keep = self._left == 0 and not self._response.will_close and not connection.ended
        self._response.close()
        self._pool.give_back(connection, keep)
        if self._on_close is not None:
            self._on_close()


class Pool:
    """Connections to one address, for any number of threads. A forked child starts with none."""

    def __init__(self, host: str, port: int, make_tls: Optional[Callable[[], Any]]) -> None:
        self.host = host
        self.port = port
        self._make_tls = make_tls
        self._tls: Any = None
        self._lock = threading.Lock()
        self._idle: List[Connection] = []
        self._open: Set[Connection] = set()
        self.closed = False
        _pools.add(self)

    def take(self, call: Call, limit: float, fresh: bool) -> Connection:
        while True:
            with self._lock:
                expired = self._expired()
                connection = self._idle.pop() if self._idle and not fresh else None
            for old in expired:
                self._drop(old)
            if connection is None:
                return self._connect(call, limit)
            if connection.is_usable():
                connection.reused, connection.idle, connection.limit = True, None, limit
                call.use(connection)
                return connection
            self._drop(connection)

    def _expired(self) -> List[Connection]:
        oldest = time.monotonic() - MAX_IDLE_SECONDS
        expired = [one for one in self._idle if one.last_used < oldest]
        self._idle = [one for one in self._idle if one not in expired]
        return expired

    def _connect(self, call: Call, limit: float) -> Connection:
        problem: Optional[OSError] = None
        addresses = socket.getaddrinfo(self.host, self.port, 0, socket.SOCK_STREAM)
        for number, (family, kind, protocol, _, address) in enumerate(addresses, 1):
            call.check()
            connection = Connection(socket.socket(family, kind, protocol))
            # An address that never answers must leave time for the next one.
            connection.limit = limit if number == len(addresses) else min(limit, time.monotonic() + MAX_CONNECT_SECONDS)
            with self._lock:
                self._open.add(connection)
            call.use(connection)
            try:
                connection.sock.settimeout(connection.left())
                connection.sock.connect(address)
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._wrap(connection)
                connection.limit = limit
                return connection
            except BaseException as error:
                call.use(None)
                self._drop(connection)
                if not isinstance(error, OSError) or isinstance(error, ValueError):
                    raise
                problem = error
        raise problem or OSError("the host has no address")

    def _wrap(self, connection: Connection) -> None:
        if self._make_tls is None:
            return
        with self._lock:
            if self._tls is None:
                self._tls = self._make_tls()
        connection.sock.settimeout(connection.left())
        connection.sock = self._tls.wrap_socket(connection.sock, server_hostname=self.host, do_handshake_on_connect=False)
        connection.sock.do_handshake()  # type: ignore[attr-defined]

    def give_back(self, connection: Connection, keep: bool) -> None:
        connection.last_used = time.monotonic()
        with self._lock:
            keep = keep and not self.closed and connection in self._open
            if keep:
                self._idle.append(connection)
            expired = self._expired()
        for old in expired if keep else [*expired, connection]:
            self._drop(old)

    def _drop(self, connection: Connection) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def close(self) -> None:
        with self._lock:
            self.closed = True
            idle, self._idle = self._idle, []
            busy = self._open.difference(idle)
        for connection in idle:
            self._drop(connection)
        for connection in busy:
            connection.shut_down()

    def start_in_child(self) -> None:
        """Close the child's copies of the connections, which the parent does not notice."""
        # Another thread of the parent may have held the lock when the process was forked.
        self._lock = threading.Lock()
        connections, self._open, self._idle = self._open, set(), []
        for connection in connections:
            connection.close()


_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()


def _start_in_child() -> None:
    for pool in list(_pools):
        pool.start_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_in_child)


def try_once(pool: Pool, call: Call, encoded: "Encoded", limit: float, fresh: bool) -> Answer:
    """Send a request once and read the head of its answer. Raises ``Failure``."""
    try:
        connection = pool.take(call, limit, fresh)
    except (OSError, UnicodeError) as error:
        failure = _not_connected(pool, error)
    else:
        answer, failure = _exchange(pool, connection, call, encoded)
        if answer is not None:
            return answer
    call.check()
    raise failure


def _not_connected(pool: Pool, error: Exception) -> Failure:
    if isinstance(error, TIMEOUTS):
        return Failure(PostriderError("timeout", f"{pool.host}:{pool.port} took too long to connect.", cause=_bare(error)), "no")
    problem = PostriderError("connection_error", f"No connection to {pool.host}:{pool.port}: {error}", cause=_bare(error))
    # A certificate that is wrong stays wrong, and so does a name that cannot be one.
    lasting = isinstance(error, UnicodeError) or type(error).__name__ == "SSLCertVerificationError"
    return Failure(problem, "yes" if lasting else "no")


def _exchange(pool: Pool, connection: Connection, call: Call, encoded: "Encoded") -> Tuple[Any, Any]:
    response = http.client.HTTPResponse(connection, method=encoded.request.method)  # type: ignore[arg-type]
    kept = False
    try:
        call.check()
        unsent = _send(connection, encoded)
        try:
            response.begin()
            # An interim answer, such as 103, comes before the answer. http.client skips only 100.
            while response.status < 200:
                response.headers = None  # type: ignore[assignment]
                response.begin()
        except http.client.HTTPException:
            if not connection.ended:
                raise
        # http.client takes the end of the connection for the end of the head. A head that is whole is read without seeing that end.
        if not connection.ended:
            answer = Answer(pool, connection, response, call)
            kept = True
            return answer, None
        problem: Optional[BaseException] = unsent
    except TIMEOUTS as error:
        return None, Failure(PostriderError("timeout", "The server took too long to answer.", cause=_bare(error)), "maybe")
    except OSError as error:
        problem = _bare(error)
    except (http.client.HTTPException, ValueError) as error:
        return None, Failure(PostriderError("invalid_response", f"The answer is no HTTP: {type(error).__name__}"), "yes")
    finally:
        if not kept:
            call.use(None)
            response.close()
            pool.give_back(connection, False)
    stale = connection.reused and not connection.answered
    message = "The connection was lost within the answer." if connection.answered else "The connection was lost before the answer."
    cause = problem or ConnectionResetError("the server closed the connection")
    return None, Failure(PostriderError("connection_error", message, cause=cause), "maybe", stale)


def _send(connection: Connection, encoded: "Encoded") -> Optional[BaseException]:
    """Send a request. A server may answer and close before it has read all, so a lost connection is returned and the answer is tried."""
    try:
        connection.send(encoded)
    except TIMEOUTS:
        raise
    except OSError as error:
        return _bare(error)
    return None


def _bare(error: BaseException) -> BaseException:
    """The error without its frames, whose variables have the head of the request and so the key."""
    error.__context__ = None
    return error.with_traceback(None)
