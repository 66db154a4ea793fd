/** Sends requests, repeats those that may be, and turns every answer that is none into an error. */
import { errorOf, type Hide, invalidResponse, parseJson, readText } from './answers.ts';
import { random, type Streamed } from './attachments.ts';
import { connectionError, cutOff, isUnsent } from './connection.ts';
import { Download } from './download.ts';
import { invalidArgument, PostriderError } from './errors.ts';
import { type CallOptions, readNumber, type SendOptions, type Settings } from './options.ts';
import { Call, ended, MAX_RETRY_AFTER, pauseMs } from './timing.ts';
import { UnkeptConnections } from './unkept.ts';
import { VERSION } from './version.ts';

export type Segment = string | number;
/** A path whose segments are encoded when it is sent. */
export type Path = { readonly texts: readonly string[]; readonly segments: readonly Segment[] };
/** The query of a list, whose types have no index signature. */
export type Query = object;
type Body = string | Streamed;

export type Request = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: Path;
  query?: Query | undefined;
  /** Makes the body once; every try sends the same. */
  body?: (() => Body | Promise<Body>) | undefined;
  contentType?: string;
  options?: SendOptions | CallOptions | undefined;
  /** True for sends, which have an idempotency key and are repeated like a GET. */
  isKeyed?: boolean;
  answer: 'json' | 'page' | 'none' | 'stream';
};

/** What the tries of one call share. */
type Prepared = {
  url: string;
  init: { method: string; headers: Headers };
  body: Body | undefined;
  tryMs: number;
  idempotencyKey: string | undefined;
  request: Request;
  call: Call;
};

export function path(texts: TemplateStringsArray, ...segments: Segment[]): Path {
  return { texts, segments };
}

export class Transport {
  readonly #settings: Settings;
  readonly #open = new Set<Call>();
  readonly #hide: Hide;
  readonly #once = new UnkeptConnections();
  #isClosed = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#hide = (text) => text.replaceAll(settings.key, '…');
  }

  /** Ends all calls that are open, and refuses later ones. */
  close(): void {
    this.#isClosed = true;
    for (const call of this.#open) call.end('closed');
    this.#open.clear();
    this.#once.close();
  }

  async request(request: Request): Promise<unknown> {
    if (this.#isClosed) throw ended('closed');
    const { options = {} } = request;
    const { maxRetries, timeoutMs, deadlineMs } = this.#settings;
    const times = {
      timeoutMs: readNumber(options.timeoutMs, 'timeoutMs') ?? timeoutMs,
      deadlineMs: readNumber(options.deadlineMs, 'deadlineMs') ?? deadlineMs,
    };
    const idempotencyKey = request.isKeyed ? keyOf(options) : undefined;
    const call = new Call(times, options.signal);
    this.#open.add(call);
    let isStream = false;
    try {
      const prepared = await this.#prepare(request, call, idempotencyKey);
      const answer = await this.#tries(prepared, maxRetries);
      isStream = answer instanceof Download;
      if (idempotencyKey !== undefined) Object.assign(answer ?? {}, { idempotencyKey });
      return answer;
    } catch (error) {
      throw withKey(error, idempotencyKey);
    } finally {
      if (!isStream) this.#release(call);
    }
  }

  #release(call: Call): void {
    call.release();
    this.#open.delete(call);
  }

  async #prepare(request: Request, call: Call, idempotencyKey: string | undefined): Promise<Prepared> {
    const url = this.#settings.baseUrl + encodePath(request.path) + encodeQuery(request.query);
    // An end before the first request, such as a signal that has fired, sends nothing.
    const body = await call.within(Number.POSITIVE_INFINITY, Promise.resolve(request.body?.()));
    const headers = new Headers({
      authorization: `Bearer ${this.#settings.key}`,
      'user-agent': `postrider-node/${VERSION}`,
      'accept-encoding': 'identity',
    });
    if (body !== undefined) headers.set('content-type', request.contentType ?? 'application/json');
    if (idempotencyKey !== undefined) setKey(headers, idempotencyKey);
    const size = typeof body === 'string' ? body.length : (body?.size ?? 0);
    const init = { method: request.method, headers };
    return { url, init, body, tryMs: call.tryMs(size), idempotencyKey, request, call };
  }

  async #tries(prepared: Prepared, retries: number): Promise<unknown> {
    for (let repeat = 0; ; repeat += 1) {
      try {
        return await this.#try(prepared);
      } catch (error) {
        const { request, call } = prepared;
        if (!(error instanceof PostriderError) || call.error !== undefined) throw error;
        // An earlier try has deleted it. Any other 404 is of something before the server.
        if (request.method === 'DELETE' && repeat > 0 && error.type === 'not_found') return undefined;
        const pause = pauseMs(repeat + 1, error.retryAfter);
        const isLate = (error.retryAfter ?? 0) > MAX_RETRY_AFTER || pause >= call.leftMs;
        if (repeat >= retries || isLate || !mayRepeat(error, request)) throw error;
        await call.pause(pause);
      }
    }
  }

  /** Makes one try, and reads its answer to the end unless it is a stream. */
  async #try({ url, init, body, tryMs, request, call }: Prepared): Promise<unknown> {
    const controller = new AbortController();
    const context = { request, call, tryMs, controller };
    const once = mayBeRepeated(request) ? {} : this.#once.init();
    const work = this.#exchange(
      url,
      { ...init, ...bodyInit(body), ...once, signal: controller.signal },
      context,
    );
    try {
      return await call.within(tryMs, work);
    } catch (error) {
      controller.abort(error);
      throw error;
    }
  }

  async #exchange(url: string, init: RequestInit, context: Exchange): Promise<unknown> {
    const { request, call, tryMs, controller } = context;
    const response = await this.#fetch(url, init);
    if (!response.ok) throw await this.#refusal(response);
    if (request.answer === 'stream') {
      call.liftDeadline();
      const release = () => this.#release(call);
      return new Download(response, { call, partMs: tryMs, controller, release, hide: this.#hide });
    }
    const text = await this.#readBody(response);
    await returned();
    if (request.answer === 'none') return undefined;
    return parseJson(response, text, request.answer === 'page', this.#hide);
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#settings.fetch(url, { ...init, redirect: 'manual' });
    } catch (cause) {
      throw connectionError(cause, this.#hide);
    }
  }

  /** Returns the error of an answer that is not 2xx. */
  async #refusal(response: Response): Promise<PostriderError> {
    if (response.status < 400) {
      // A body that nobody reads would keep the connection.
      response.body?.cancel().catch(() => undefined);
      return invalidResponse(
        response,
        'The server answered with a redirect, which is not followed.',
        this.#hide,
      );
    }
    const text = await this.#readBody(response).catch((error: PostriderError) => {
      // The status says enough when the body is too large. One that is cut off is a lost answer.
      if (error.type === 'invalid_response') return '';
      throw error;
    });
    await returned();
    return errorOf(response, text, this.#hide);
  }

  async #readBody(response: Response): Promise<string> {
    try {
      return await readText(response, this.#hide);
    } catch (cause) {
      throw cause instanceof PostriderError ? cause : cutOff(response, cause, this.#hide);
    }
  }
}

type Exchange = { request: Request; call: Call; tryMs: number; controller: AbortController };

/** Returns the body of one try. A stream can be read once. */
function bodyInit(body: Body | undefined): RequestInit {
  if (body === undefined || typeof body === 'string' || body instanceof Blob) return { body: body ?? null };
  // The types of some runtimes lack `duplex`, without which a stream is refused.
  return { body: body.stream(), duplex: 'half' } as RequestInit;
}

/**
 * Waits until the runtime has its connection back. Node takes it back after the callbacks that wait for an answer, so that a program
 * that asks again at once would open a second one.
 */
function returned(): Promise<void> | undefined {
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void };
  return setImmediate && new Promise((resolve) => setImmediate(resolve));
}

/** Says whether a request does no harm when it is made twice. */
function mayBeRepeated({ method, isKeyed }: Request): boolean {
  return method !== 'POST' || isKeyed === true;
}

function mayRepeat(error: PostriderError, request: Request): boolean {
  const { type, status = 0 } = error;
  if (type === 'quota_exceeded' || type === 'invalid_response' || type === 'invalid_argument') return false;
  if (type === 'rate_limited') return true;
  const didNothing = type === 'unavailable' && status === 503;
  if (!mayBeRepeated(request)) return didNothing || isUnsent(error);
  if (type === 'connection_error' || type === 'timeout' || type === 'idempotency_in_progress') return true;
  return status === 408 || status >= 500;
}

function keyOf(options: SendOptions): string {
  const key = options.idempotencyKey ?? random();
  if (typeof key !== 'string' || key === '') throw invalidArgument('`idempotencyKey` is an empty string.');
  return key;
}

function setKey(headers: Headers, key: string): void {
  try {
    headers.set('idempotency-key', key);
  } catch (cause) {
    throw invalidArgument('`idempotencyKey` has characters that a header cannot have.', cause);
  }
}

/** Gives an error of a send its key, so that the program may ask again with it. */
function withKey(error: unknown, idempotencyKey: string | undefined): unknown {
  if (!(error instanceof PostriderError) || idempotencyKey === undefined) return error;
  return Object.assign(error, { idempotencyKey });
}

function encodePath({ texts, segments }: Path): string {
  return texts
    .map((text, index) => text + (index < segments.length ? encodeSegment(segments[index]) : ''))
    .join('');
}

function encodeSegment(segment: Segment | undefined): string {
  const text = typeof segment === 'number' ? String(segment) : segment;
  // An empty segment, and one of dots, which is resolved, would ask another path.
  if (typeof text !== 'string' || /^\.{0,2}$/.test(text))
    throw invalidArgument('An id is missing, or is empty or only dots.');
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw invalidArgument('An id has half of a character.', cause);
  }
}

function encodeQuery(query: Query = {}): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] => {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.filter((one) => one !== undefined && one !== null).map((one) => [name, String(one)]);
  });
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
