/**
 * Outbound HTTP: one request, no redirects, a bounded answer. The guard is asked for every address a connection
 * would go to, also when the URL holds an IP literal, for which Node never calls `lookup` (security.md finding 7). Names are
 * looked up in `Dns`: no thread of the pool waits for a slow resolver, and the address that is judged is the one that is
 * connected to, whatever DNS says a moment later.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import type { TargetGuard } from './blocklist.ts';
import { RefusedTargetError } from './dial.ts';
import type { Dns, DnsAnswer } from './dns.ts';

export type HttpRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** From the first packet to the last byte of the answer. */
  timeoutMs: number;
  /** The answer's body is cut here. */
  maxResponseBytes: number;
  /** Whether there is room for so many bytes more of the answer's body. Asked before they are held; giving back is the caller's. */
  takeRoom?: (bytes: number) => boolean;
};

export type HttpResponse = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  /** The body was longer than `maxResponseBytes`. */
  truncated: boolean;
};

/** @throws RefusedTargetError, UnresolvedHostError, NoRoomError, or what the connection or the time limit ended with */
export type Fetch = (request: HttpRequest) => Promise<HttpResponse>;

export type FetchOptions = {
  /** PEM; instead of those Node trusts. */
  certificateAuthorities?: string;
};

export class UnresolvedHostError extends Error {
  override readonly name = 'UnresolvedHostError';
}

export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';
}

/** Before the request's own time limit, so that it is told from a slow answer. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Shorter than what servers commonly keep an idle connection for. */
const KEEP_ALIVE_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 32;
/** What an answer of unknown length is given first, and then twice as much each time. */
const FIRST_BYTES = 64 * 1024;

export function createFetch(
  guard: TargetGuard,
  dns: Pick<Dns, 'a' | 'aaaa'>,
  { certificateAuthorities }: FetchOptions = {},
): Fetch {
  const open = buildConnector({
    lookup: guardedLookup(guard, dns),
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    ...(certificateAuthorities !== undefined && { ca: certificateAuthorities }),
  });
  const agent = new Agent({
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connections: CONNECTIONS_PER_ORIGIN,
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !guard.allows(host)) callback(refused(host), null);
      else open(options, callback);
    },
  });
  return async ({ method, url, headers, body, timeoutMs, maxResponseBytes, takeRoom = () => true }) => {
    const answer = await request(url, {
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: body ?? null,
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      ...(await readUpTo(answer.body, {
        maxBytes: maxResponseBytes,
        announcedBytes: Number(answer.headers['content-length'] ?? FIRST_BYTES),
        takeRoom,
      })),
    };
  };
}

function refused(host: string): RefusedTargetError {
  return new RefusedTargetError(`${host} is not a public address`);
}

/** Drops every address the guard refuses; refuses the connection when none is left. */
function guardedLookup(guard: TargetGuard, dns: Pick<Dns, 'a' | 'aaaa'>): LookupFunction {
  return (host, options, callback) => {
    addressesOf(dns, host).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => guard.allows(address));
        const [first] = allowed;
        if (!first) callback(refused(host), '');
        else if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

/** RFC 6761 6.3: `localhost` and every name in it is this machine, and DNS is not asked. */
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** @throws UnresolvedHostError */
async function addressesOf(dns: Pick<Dns, 'a' | 'aaaa'>, host: string): Promise<readonly LookupAddress[]> {
  if (LOCALHOST.test(host)) return LOOPBACK;
  const [a, aaaa] = await Promise.all([dns.a(host), dns.aaaa(host)]);
  const addresses = [...withFamily(a, 4), ...withFamily(aaaa, 6)];
  if (addresses.length > 0) return addresses;
  const failure = [a, aaaa].find((answer) => answer.kind === 'failed');
  const why = failure ? `could not be looked up (${failure.reason})` : 'has no address';
  throw new UnresolvedHostError(`${host} ${why}`);
}

function withFamily(answer: DnsAnswer<string>, family: 4 | 6): LookupAddress[] {
  return answer.kind === 'found' ? answer.records.map((address) => ({ address, family })) : [];
}

type Reading = { maxBytes: number; announcedBytes: number; takeRoom: (bytes: number) => boolean };

/**
 * Into one buffer, made with the first part: as large as the answer is said to be, or grown when that is not known. That
 * more comes than was said, the HTTP parser rules out.
 */
async function readUpTo(
  body: AsyncIterable<Buffer>,
  { maxBytes, announcedBytes, takeRoom }: Reading,
): Promise<{ body: Buffer; truncated: boolean }> {
  let held: Buffer = Buffer.alloc(0);
  let size = 0;
  for await (const part of body) {
    const comes = size + part.length;
    if (comes > held.length && held.length < maxBytes) {
      const wanted = Math.max(comes, held.length === 0 ? announcedBytes : held.length * 2);
      held = grow(held, Math.min(wanted, maxBytes), takeRoom);
    }
    size += part.copy(held, size);
    if (comes > maxBytes) return { body: held, truncated: true };
  }
  return { body: held.subarray(0, size), truncated: false };
}

/** Both are there for as long as copying takes, and no others are copied meanwhile. */
function grow(held: Buffer, sizeBytes: number, takeRoom: Reading['takeRoom']): Buffer {
  if (!takeRoom(sizeBytes - held.length)) throw new NoRoomError('there is no room for the answer');
  const larger = Buffer.allocUnsafe(sizeBytes);
  held.copy(larger);
  return larger;
}
