/**
 * Makes outbound HTTP requests: one request, no redirects, a bounded answer. Every address is checked before it is
 * connected to (`fetch/connection.ts`). A request never waits for a connection, since a receiver
 * that hangs would otherwise delay all other requests to the same host. Callers bound the number of concurrent
 * requests, since they know the tenant of each.
 */
import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import type { TargetGuard } from './blocklist.ts';
import type { Dns } from './dns.ts';
import { EgressGate } from './egress.ts';
import { AnswerReader, type HttpResponse } from './fetch/answer.ts';
import { createConnections } from './fetch/connection.ts';

export type HttpRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The length of a stream stands in the header `content-length`. The caller destroys the stream. */
  body?: string | Uint8Array | Readable;
  /** Time limit from the first packet, or the first question to DNS, to the last byte of the answer. */
  timeoutMs: number;
  /** Maximum size of the response body. The rest is cut off. */
  maxResponseBytes: number;
  /**
   * Reserves memory for the next part of the response body. The caller releases it. Returns false when none is left.
   */
  reserveBytes?: (bytes: number) => boolean;
  /** True for a POST that changes nothing elsewhere. Like a GET, it is made also while nothing may leave. */
  changesNothing?: true;
};

/**
 * Makes one request.
 * @throws RefusedTargetError, HeldEgressError, UnresolvedHostError, BudgetExhaustedError, UnreasonableAnswerError, or the error of the
 * connection or of the time limit
 */
export type Fetch = (request: HttpRequest) => Promise<HttpResponse>;

type FetchOptions = {
  /** Certificates in PEM that replace the ones that Node trusts. */
  certificateAuthorities?: string;
  egress?: Pick<EgressGate, 'require'>;
};

/**
 * Maximum time for which an idle connection is kept, in milliseconds: shorter than servers commonly keep one, even if
 * the server allows more.
 */
const KEEP_ALIVE_MS = 10_000;
/**
 * Maximum number of open connections at which answered ones are kept: beyond it each is closed after its answer, so
 * that idle ones do not accumulate.
 */
const MAX_KEPT_CONNECTIONS = 128;
/** Maximum size of the headers of one response, its trailers included. Node has the same limit. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Returns a function that makes requests to public addresses, with its own pool of connections. */
export function createFetch(
  guard: TargetGuard,
  dns: Pick<Dns, 'a' | 'aaaa'>,
  { certificateAuthorities, egress = new EgressGate() }: FetchOptions = {},
): Fetch {
  const connections = createConnections({ guard, dns, certificateAuthorities });
  const agent = new Agent({
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: connections.connect,
  });
  return async ({
    method,
    url,
    headers,
    body,
    timeoutMs,
    maxResponseBytes,
    reserveBytes = () => true,
    changesNothing = method === 'GET',
  }) => {
    if (!changesNothing) egress.require();
    const { origin, pathname, search } = new URL(url);
    const reader = new AnswerReader({ maxBytes: maxResponseBytes, reserveBytes });
    const timer = setTimeout(() => reader.abort(timeoutError()), timeoutMs);
    try {
      const request = { origin, method, path: pathname + search, body: body ?? null };
      const reset = connections.open >= MAX_KEPT_CONNECTIONS;
      agent.dispatch({ ...request, reset, headers: { ...headers, 'accept-encoding': 'identity' } }, reader);
      return await reader.answer;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Returns the error of `AbortSignal.timeout`, which costs several times as much as a timer. */
function timeoutError(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}
