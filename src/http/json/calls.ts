/**
 * A client of a server in this process: other rooms ask and change by the operations that every program has, as somebody whom the caller
 * names. So nothing is true for them that is not true in the API, and every check of the API holds for them.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { AppError, type AppErrorOptions, type ErrorCode, notFound } from '../../system/errors.ts';
import { requestInProcess, streamInProcess } from '../transport/in-process.ts';

/** Values of a query. Those that are undefined or empty are left out, so that the fields of a filter can be passed as they are. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Operations of a server. Each returns the body of the answer, and throws the AppError that an answer of refusal stands for. */
export type Calls = {
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  post<Answer>(path: string, body?: unknown): Promise<Answer>;
  put<Answer>(path: string, body?: unknown): Promise<Answer>;
  patch<Answer>(path: string, body?: unknown): Promise<Answer>;
  delete<Answer>(path: string, body?: unknown): Promise<Answer>;
  /** Returns the lines of an answer that has one value of JSON on each, once the last of them has come. */
  postForLines<Line>(path: string, body: unknown): Promise<Line[]>;
  /** Sends a body that is not JSON, such as a file of contacts. */
  upload<Answer>(path: string, body: Buffer, mediaType: string): Promise<Answer>;
  /** Returns an answer that is not JSON, such as an exported file, while it is read: it may be larger than memory should hold. */
  stream(path: string): Promise<{ bytes: Readable; mediaType: string }>;
};

/** Caller of the operations. */
type Caller = {
  /** Path before the paths of operations, such as `/v1`. */
  prefix: string;
  clientAddress: string;
  /** Headers of each request, such as `authorization`. */
  headers?: Readonly<Record<string, string>>;
  /** Idempotency key of each POST, with which sending twice sends once. */
  idempotencyKey?: string;
  /** Marks each raw request before the server sees it, with what no header may say. */
  mark?: (raw: IncomingMessage) => void;
};

/** Returns the operations of a server, which begin to work once it is there. */
export function callsOf(serverOf: () => FastifyInstance | Promise<FastifyInstance>, caller: Caller): Calls {
  const { prefix, clientAddress, headers: ownHeaders = {}, idempotencyKey, mark } = caller;

  async function call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: { payload: string | Buffer; mediaType: string },
  ) {
    const headers: Record<string, string> = {
      ...ownHeaders,
      ...(body && { 'content-type': body.mediaType }),
      ...(method === 'POST' && idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    const url = prefix + path;
    requireWithin(prefix, url);
    const response = await requestInProcess(await serverOf(), {
      method,
      url,
      headers,
      clientAddress,
      ...(body && { payload: body.payload }),
      ...(mark && { mark }),
    });
    if (response.status >= 400) throw refusalOf(response, `${method} ${path}`);
    return response.body;
  }

  async function stream(path: string) {
    const url = prefix + path;
    requireWithin(prefix, url);
    const { status, headers, body } = await streamInProcess(await serverOf(), {
      method: 'GET',
      url,
      headers: ownHeaders,
      clientAddress,
      ...(mark && { mark }),
    });
    if (status >= 400) throw refusalOf({ headers, body: await buffer(body) }, `GET ${path}`);
    return { bytes: body, mediaType: String(headers['content-type'] ?? '') };
  }

  const send =
    (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE') =>
    async <Answer>(path: string, body?: unknown): Promise<Answer> => {
      const json = body === undefined ? undefined : { payload: JSON.stringify(body), mediaType: JSON_TYPE };
      return readJson<Answer>(await call(method, path, json));
    };

  return {
    get: async <Answer>(path: string, query?: Query) =>
      readJson<Answer>(await call('GET', withQuery(path, query))),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),
    postForLines: async <Line>(path: string, body: unknown) => {
      const answer = await call('POST', path, { payload: JSON.stringify(body), mediaType: JSON_TYPE });
      const lines = answer.toString().split('\n');
      return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as Line);
    },
    upload: async <Answer>(path: string, payload: Buffer, mediaType: string) =>
      readJson<Answer>(await call('POST', path, { payload, mediaType })),
    stream,
  };
}

/**
 * Checks that a path stays behind its prefix: `..` leads out of it, also when it is encoded, because servers resolve it.
 * @throws AppError not_found
 */
function requireWithin(prefix: string, url: string): void {
  const { pathname } = new URL(url, 'http://in-process.invalid');
  if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) throw notFound('Page');
}

const JSON_TYPE = 'application/json';

/** The answers come from this process, which has written them by their schemas. */
function readJson<Answer>(bytes: Buffer): Answer {
  return (bytes.length === 0 ? undefined : JSON.parse(bytes.toString())) as Answer;
}

/** Returns a path with a query; its empty values are left out. */
function withQuery(path: string, query: Query = {}): string {
  const values = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return values.length === 0 ? path : `${path}?${new URLSearchParams(values)}`;
}

type Problem = { error: { type: ErrorCode | 'internal_error'; message: string } & AppErrorOptions };

type RefusingAnswer = { headers: OutgoingHttpHeaders; body: Buffer };

function refusalOf({ headers, body }: RefusingAnswer, what: string): Error {
  const { error } = readJson<Problem>(body);
  const retryAfterSeconds = Number(headers['retry-after']);
  const { type, message, param, issues, details } = error;
  if (type === 'internal_error') return new Error(`${what} failed`);
  return new AppError(type, message, {
    ...(param !== undefined && { param }),
    ...(issues && { issues }),
    ...(details && { details }),
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  });
}

/** Returns the answer of an operation, or its refusal. For questions that somebody else words, such as an address that a person has entered. */
export async function answerOf<Answer>(asked: Promise<Answer>): Promise<Answer | AppError> {
  try {
    return await asked;
  } catch (refusal) {
    if (refusal instanceof AppError) return refusal;
    throw refusal;
  }
}

/** Tag of template strings: returns a path whose inserted values are encoded, so that none of them adds a segment to it. */
export function path(literals: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: literals }, ...values.map(encodeSegment));
}

/**
 * Encodes a value. Dots alone name nothing, and a URL parser would resolve them in each of their encodings.
 * @throws AppError not_found
 */
function encodeSegment(value: string): string {
  if (/^\.{1,2}$/.test(value)) throw notFound('Page');
  return encodeURIComponent(value);
}
