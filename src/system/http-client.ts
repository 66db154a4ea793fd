/**
 * Makes HTTP requests to one server of the operator, such as an object store: bodies and answers are streams, and private addresses are
 * allowed, because the operator named the server. `fetch.ts` makes the requests to servers that others name. Nothing here asks the egress
 * gate or follows a redirect, and no answer is bounded but by the caller and by `MAX_BYTES_PER_REQUEST` of `fetch/connection.ts`.
 */
import { Readable } from 'node:stream';
import { Agent } from 'undici';
import { UNGUARDED } from './blocklist.ts';
import { type Clock, TimeoutError, type Timer } from './clock.ts';
import type { Dns } from './dns.ts';
import { createConnections } from './fetch/connection.ts';

type ClientRequest = {
  method: 'GET' | 'PUT' | 'DELETE';
  url: string;
  /** A request with a body has `content-length`, and fails when the body has another length. */
  headers: Readonly<Record<string, string>>;
  body?: AsyncIterable<Uint8Array>;
};

export type ClientAnswer = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * The body as it arrives. It fails when the connection ends before it is complete. The caller reads it or calls `discard`.
   * @throws TimeoutError, or the error of the connection
   */
  body: AsyncIterable<Uint8Array>;
  /** Ends the request without its body. */
  discard(): void;
};

export type HttpClient = {
  /**
   * Sends one request, and resolves with the head of the answer.
   * @throws TimeoutError after `idleMs` without progress, RefusedTargetError for a host without addresses, UnresolvedHostError,
   * WrongPinError, or the error of the connection
   */
  send(request: ClientRequest): Promise<ClientAnswer>;
  /** Ends all connections. Requests in progress fail. */
  close(): Promise<void>;
};

type ClientOptions = {
  /** Maximum time without progress in either direction, in milliseconds. The time that the caller takes for a part of a body does not count. */
  idleMs: number;
  /** Pin of the only public key that the server may have (`fetch/pin.ts`), instead of a certificate that is trusted. */
  pin?: string | undefined;
  /** Certificates in PEM that replace the ones that Node trusts. */
  certificateAuthorities?: string | undefined;
};

/** Maximum number of connections. Further requests wait for one. Our own limit. */
const MAX_CONNECTIONS = 16;
/** Maximum time for which an idle connection is kept, in milliseconds. Common servers close it after 5 seconds or more. */
const KEEP_ALIVE_MS = 4_000;

/** Returns a client with its own pool of connections. */
export function createHttpClient(
  { clock, dns }: { clock: Pick<Clock, 'after'>; dns: Pick<Dns, 'a' | 'aaaa'> },
  { idleMs, pin, certificateAuthorities }: ClientOptions,
): HttpClient {
  const { connect } = createConnections({ guard: UNGUARDED, dns, certificateAuthorities, pin });
  const agent = new Agent({
    allowH2: false,
    connections: MAX_CONNECTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The watch below bounds both, and counts the bytes of the request too.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect,
  });
  return {
    async send({ method, url, headers, body }) {
      const { origin, pathname, search } = new URL(url);
      const abort = new AbortController();
      const watch = watchProgress(clock, idleMs, (reason) => abort.abort(reason));
      const upload = body && Readable.from(watched(body, watch), { objectMode: false });
      // A stream that ends early fails with the error of the request, and an error without a listener would end the process.
      upload?.on('error', () => {});
      try {
        const answer = await agent.request({
          origin,
          method,
          path: pathname + search,
          headers: { ...headers, 'accept-encoding': 'identity' },
          body: upload ?? null,
          signal: abort.signal,
        });
        answer.body.on('error', () => {});
        watch.resume();
        return {
          status: answer.statusCode,
          headers: answer.headers,
          body: readWatched(answer.body, watch),
          discard() {
            watch.stop();
            answer.body.destroy();
          },
        };
      } catch (error) {
        watch.stop();
        upload?.destroy();
        throw error;
      }
    },
    close: () => agent.destroy(),
  };
}

type Watch = {
  /** Starts the time anew. */
  resume(): void;
  /** Stops the time until the next `resume`. */
  pause(): void;
  /** Ends the watch for ever. */
  stop(): void;
};

/** Calls `end` once when the time has run for `idleMs`. It runs from the beginning. */
function watchProgress(clock: Pick<Clock, 'after'>, idleMs: number, end: (reason: Error) => void): Watch {
  let isStopped = false;
  let timer: Timer | undefined;
  const pause = () => timer?.cancel();
  const watch: Watch = {
    resume() {
      pause();
      if (isStopped) return;
      timer = clock.after(idleMs, () => end(new TimeoutError(`no progress within ${idleMs} ms`)));
    },
    pause,
    stop() {
      isStopped = true;
      pause();
    },
  };
  watch.resume();
  return watch;
}

/** The parts of a request. Each part that is asked for shows that the server takes them. */
async function* watched(body: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  for await (const part of body) {
    watch.resume();
    yield part;
  }
  watch.resume();
}

/** The parts of an answer. The time stands still while the caller uses one. */
async function* readWatched(body: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of body) {
      watch.pause();
      yield part;
      watch.resume();
    }
  } finally {
    watch.stop();
  }
}
