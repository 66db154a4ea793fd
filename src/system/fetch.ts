/**
 * Outbound HTTP: one request, no redirects, a bounded answer. The guard is asked for every address a connection
 * would go to, also when the URL holds an IP literal, for which Node never calls `lookup` (security.md finding 7).
 */
import { lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import type { TargetGuard } from './blocklist.ts';
import { RefusedTargetError } from './dial.ts';

export type HttpRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** From the first packet to the last byte of the answer. */
  timeoutMs: number;
  /** The answer's body is cut here. */
  maxResponseBytes: number;
};

export type HttpResponse = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
};

export type Fetch = (request: HttpRequest) => Promise<HttpResponse>;

type Lookup = typeof systemLookup;

/** Before the request's own time limit, so that it is told from a slow answer. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Shorter than what servers commonly keep an idle connection for. */
const KEEP_ALIVE_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 32;

export function createFetch(guard: TargetGuard, lookup: Lookup = systemLookup): Fetch {
  const open = buildConnector({
    lookup: guardedLookup(guard, lookup),
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
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
  return async ({ method, url, headers, body, timeoutMs, maxResponseBytes }) => {
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
      body: await readUpTo(answer.body, maxResponseBytes),
    };
  };
}

function refused(host: string): RefusedTargetError {
  return new RefusedTargetError(`${host} is not a public address`);
}

/** Drops every address the guard refuses; refuses the connection when none is left. */
function guardedLookup(guard: TargetGuard, lookup: Lookup): Lookup {
  const guarded = (
    host: string,
    options: { all?: boolean },
    callback: (error: Error | null, address?: unknown, family?: number) => void,
  ) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error);
      const allowed = addresses.filter((entry) => guard.allows(entry.address));
      const [first] = allowed;
      if (!first) return callback(refused(host));
      return options.all ? callback(null, allowed) : callback(null, first.address, first.family);
    });
  };
  return guarded as Lookup;
}

async function readUpTo(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes);
}
