/**
 * Opens the connections of requests: only to addresses that the guard allows, and with a bound on the bytes that a
 * server sends.
 */

import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { RefusedTargetError, type TargetGuard } from '../blocklist.ts';
import type { Dns, DnsAnswer } from '../dns.ts';
import { UnreasonableAnswerError } from './answer.ts';
import { pinOf, WrongPinError } from './pin.ts';

type Connections = {
  connect: buildConnector.connector;
  /** Number of connections that are open or being opened. */
  readonly open: number;
};

type ConnectionOptions = {
  guard: TargetGuard;
  dns: Pick<Dns, 'a' | 'aaaa'>;
  certificateAuthorities: string | undefined;
  /** Pin of the only public key that a server may have (`pin.ts`). Its certificate is not checked in any other way. */
  pin?: string | undefined;
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

/** Returns a connector for undici that refuses the addresses that the guard does not allow, and counts open connections. */
export function createConnections({
  guard,
  dns,
  certificateAuthorities,
  pin,
}: ConnectionOptions): Connections {
  let open = 0;
  const connect = buildConnector({
    lookup: guardedLookup(guard, dns),
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    ...(certificateAuthorities !== undefined && { ca: certificateAuthorities }),
    // A resumed session does not show the certificate again, so a pinned connection never resumes one.
    ...(pin !== undefined && { rejectUnauthorized: false, maxCachedSessions: 0 }),
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
        const seen = pin !== undefined && socket instanceof TLSSocket ? pinOf(socket) : pin;
        if (pin !== undefined && seen !== pin) {
          const wrong = new WrongPinError(host, seen);
          socket.destroy(wrong);
          callback(wrong, null);
          return;
        }
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

/**
 * Reports that DNS could not be asked. A name that DNS does not know is a `RefusedTargetError`.
 */
export class UnresolvedHostError extends Error {
  override readonly name = 'UnresolvedHostError';
}

/**
 * Returns a lookup function for sockets. It drops every address that the guard refuses, and fails when none is left.
 * Names are looked up in `Dns`, so no thread of the pool waits for a slow resolver, and the connection goes to the
 * address that was checked, even if DNS changes a moment later.
 */
function guardedLookup(guard: TargetGuard, dns: Pick<Dns, 'a' | 'aaaa'>): LookupFunction {
  return (host, options, callback) => {
    publicAddresses(guard, dns, host).then(
      ([first, ...others]) => {
        if (options.all) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

/**
 * Matches `localhost` and every name below it. They are this machine, and DNS is not asked (RFC 6761 section 6.3).
 */
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i;
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Returns the public addresses of a host. A name without addresses and one with private addresses alone fail in the
 * same way, after the same questions to DNS.
 * @throws RefusedTargetError, UnresolvedHostError
 */
async function publicAddresses(
  guard: TargetGuard,
  dns: Pick<Dns, 'a' | 'aaaa'>,
  host: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const answers: DnsAnswer<string>[] = LOCALHOST.test(host)
    ? []
    : await Promise.all([dns.a(host), dns.aaaa(host)]);
  const addresses = LOCALHOST.test(host) ? LOOPBACK : answers.flatMap(recordsOf);
  const [first, ...others] = guard
    .keepAllowed(host, addresses)
    .map((address) => ({ address, family: isIP(address) }));
  if (first) return [first, ...others];
  const failure = answers.find((answer) => answer.kind === 'failed');
  if (failure) throw new UnresolvedHostError(`${host} could not be looked up (${failure.reason})`);
  throw new RefusedTargetError(host);
}

function recordsOf(answer: DnsAnswer<string>): readonly string[] {
  return answer.kind === 'found' ? answer.records : [];
}
