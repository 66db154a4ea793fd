/** Reads answers: their JSON with a limit, their errors, and their times to wait. */
import { PostriderError } from './errors.ts';
import type { ProblemError } from './types.ts';

/** Largest JSON answer that is read. Files come as streams and have no limit. */
export const MAX_JSON_BYTES = 64 * 1024 * 1024;
/** Characters of a foreign answer that an error quotes. */
const MAX_QUOTED = 200;
/** The dates of HTTP (RFC 9110), the only ones for which a lenient parser is not asked in vain. */
const HTTP_DATE = /^[A-Z][a-z]+, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT$/;

/** Hides the key of the client in a text of the server, which may have repeated a request. */
export type Hide = (text: string) => string;

/** Reads a body as text. One that is larger than the limit is an `invalid_response`. */
export async function readText(response: Response, hide: Hide): Promise<string> {
  if (response.body === null) return '';
  const announced = Number(response.headers.get('content-length') ?? Number.NaN);
  const isPlain = (response.headers.get('content-encoding') ?? 'identity') === 'identity';
  if (isPlain && announced <= MAX_JSON_BYTES) return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MAX_JSON_BYTES) {
      reader.cancel().catch(() => undefined);
      throw invalidResponse(response, `The answer has more than ${MAX_JSON_BYTES / 1024 / 1024} MiB.`, hide);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Returns the object of a body. A page has a list in it, because a program that took another answer for an empty page would miss items. */
export function parseJson(response: Response, text: string, isPage: boolean, hide: Hide): object {
  const value = parsed(text);
  const kind = isPage ? 'page of a list' : 'JSON object';
  if (!isObject(value) || (isPage && !Array.isArray((value as { data?: unknown }).data)))
    throw invalidResponse(response, `The answer is no ${kind}${quoted(text, hide)}`, hide);
  return value;
}

/** Returns the value of JSON, or nothing. The error of the parser would quote the text, in which the server may have repeated the key. */
function parsed(text: string, change?: (name: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, change);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function invalidResponse(response: Response, message: string, hide: Hide): PostriderError {
  return new PostriderError({ type: 'invalid_response', message, ...aboutAnswer(response, hide) });
}

/** Returns the error of an answer with a status of 4xx or 5xx. */
export function errorOf(response: Response, text: string, hide: Hide): PostriderError {
  const problem = problemOf(text, hide);
  const about = aboutAnswer(response, hide);
  if (problem === undefined) {
    const message = `The server answered ${response.status}${quoted(text, hide)}`;
    return new PostriderError({ type: 'http_error', message, ...about });
  }
  const { type, message, param, issues, details, requestId } = problem;
  const fields = { type, message, param, issues, details };
  return new PostriderError({ ...about, ...fields, requestId: about.requestId ?? requestId });
}

function problemOf(text: string, hide: Hide): ProblemError | undefined {
  const value = parsed(text, (_, one) => (typeof one === 'string' ? hide(one) : one));
  const { error } = (value ?? {}) as { error?: ProblemError };
  return typeof error?.type === 'string' && typeof error.message === 'string' ? error : undefined;
}

export function aboutAnswer(response: Response, hide: Hide) {
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => {
    headers[name] = hide(value);
  });
  return {
    status: response.status,
    requestId: headers['x-request-id'],
    retryAfter: retryAfterOf(headers),
    headers,
  };
}

/** Returns the seconds of `Retry-After`. A date counts from the server's own clock, because ours may differ. */
function retryAfterOf(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after'] ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  if (!HTTP_DATE.test(text)) return undefined;
  const now = Date.parse(headers['date'] ?? '');
  const seconds = Math.ceil((Date.parse(text) - (Number.isNaN(now) ? Date.now() : now)) / 1000);
  return seconds > 0 ? seconds : undefined;
}

function quoted(text: string, hide: Hide): string {
  const line = hide(text).replaceAll(/\s+/g, ' ').trim();
  if (line === '') return ', without a body.';
  return `: ${line.slice(0, MAX_QUOTED)}`;
}
