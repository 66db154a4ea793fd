/**
 * Opens the connections of requests: only to addresses that the guard allows, and with a bound on the bytes that a
 * server sends.
 */
import { isIP, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { RefusedTargetError, type TargetGuard } from '../blocklist.ts';
import type { Dns } from '../dns.ts';
import { guardedLookup } from './addresses.ts';
import { UnreasonableAnswerError } from './answer.ts';

type Connections = {
  connect: buildConnector.connector;
  /** Number of connections that are open or being opened. */
  readonly open: number;
};

type ConnectionOptions = {
  guard: TargetGuard;
  dns: Pick<Dns, 'a' | 'aaaa'>;
  certificateAuthorities: string | undefined;
};

/**
 * Time limit of opening a connection. It is shorter than the time limit of the request, so that a failed connection
 * can be distinguished from a slow response.
 */
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Maximum number of bytes that one request may receive, of any kind. It is more than twice the largest file that is
 * fetched (25 MiB), so that only chunk extensions and the like reach it. The parser takes about 50 ms for this many
 * bytes.
 */
const MAX_BYTES_PER_REQUEST = 64 * 1024 * 1024;

/** Returns a connector for undici that refuses private addresses and counts open connections. */
export function createConnections({ guard, dns, certificateAuthorities }: ConnectionOptions): Connections {
  let open = 0;
  const connect = buildConnector({
    lookup: guardedLookup(guard, dns),
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    ...(certificateAuthorities !== undefined && { ca: certificateAuthorities }),
  });
  return {
    get open() {
      return open;
    },
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '');
      // Node never calls `lookup` for an IP literal, so it is checked here.
      if (isIP(host) !== 0 && guard.keepAllowed(host, [host]).length === 0) {
        callback(new RefusedTargetError(host), null);
        return;
      }
      open += 1;
      connect(options, (...[error, socket]) => {
        if (error) {
          open -= 1;
          callback(error, null);
          return;
        }
        socket.once('close', () => {
          open -= 1;
        });
        limitBytes(socket);
        callback(null, socket);
      });
    },
  };
}

/**
 * Limits the bytes of each request. A request begins with a write to the socket, so all bytes received between two
 * writes belong to one request.
 */
function limitBytes(socket: Socket): void {
  let writtenBytes = 0;
  let readBytes = 0;
  let readBeforeBytes = 0;
  socket.on('readable', () => {
    if (socket.bytesWritten !== writtenBytes) {
      writtenBytes = socket.bytesWritten;
      readBeforeBytes = readBytes;
    }
    readBytes = socket.bytesRead;
    if (readBytes - readBeforeBytes > MAX_BYTES_PER_REQUEST) {
      socket.destroy(new UnreasonableAnswerError(`the server sent more than ${MAX_BYTES_PER_REQUEST} bytes`));
    }
  });
}
