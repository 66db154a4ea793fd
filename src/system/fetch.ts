/**
 * Outbound HTTP: one request, no redirects, a bounded answer. Every address is judged before it is connected to
 * (`fetch/addresses.ts`, `fetch/connection.ts`). A request never waits for a connection, since a receiver that hangs would
 * otherwise hold up everybody else's requests to the same host: how many run at the same time is bounded by the callers, who
 * know whose they are.
 */
import { Agent } from 'undici';
import type { TargetGuard } from './blocklist.ts';
import type { Dns } from './dns.ts';
import { AnswerReader, type HttpResponse } from './fetch/answer.ts';
import { createConnections } from './fetch/connection.ts';

export type HttpRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** From the first packet, or the first question to DNS, to the last byte of the answer. */
  timeoutMs: number;
  /** The answer's body is cut here. */
  maxResponseBytes: number;
  /** Reserves memory for the next part of the answer's body. The caller releases it. Returns false when there is none. */
  takeRoom?: (bytes: number) => boolean;
};

/**
 * @throws RefusedTargetError, UnresolvedHostError, NoRoomError, UnreasonableAnswerError, or what the connection or the time
 * limit ended with
 */
export type Fetch = (request: HttpRequest) => Promise<HttpResponse>;

export type FetchOptions = {
  /** PEM; instead of those Node trusts. */
  certificateAuthorities?: string;
};

/** Shorter than what servers commonly keep an idle connection for, and as long as a server may ask for. */
const KEEP_ALIVE_MS = 10_000;
/** While more connections than these are open, each is closed after its answer, so that idle ones cannot pile up. */
const MAX_KEPT_CONNECTIONS = 128;
/** Of one response, its trailers included; Node's own limit. */
const MAX_HEADER_BYTES = 16 * 1024;

export function createFetch(
  guard: TargetGuard,
  dns: Pick<Dns, 'a' | 'aaaa'>,
  { certificateAuthorities }: FetchOptions = {},
): Fetch {
  const connections = createConnections({ guard, dns, certificateAuthorities });
  const agent = new Agent({
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: connections.connect,
  });
  return async ({ method, url, headers, body, timeoutMs, maxResponseBytes, takeRoom = () => true }) => {
    const { origin, pathname, search } = new URL(url);
    const reader = new AnswerReader({ maxBytes: maxResponseBytes, takeRoom });
    const timeout = AbortSignal.timeout(timeoutMs);
    const onTimeout = () => reader.abort(timeout.reason);
    timeout.addEventListener('abort', onTimeout);
    try {
      const request = { origin, method, path: pathname + search, body: body ?? null };
      const reset = connections.open >= MAX_KEPT_CONNECTIONS;
      agent.dispatch({ ...request, reset, headers: { ...headers, 'accept-encoding': 'identity' } }, reader);
      return await reader.answer;
    } finally {
      timeout.removeEventListener('abort', onTimeout);
    }
  };
}
