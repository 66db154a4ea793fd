/**
 * Parses JSON bodies: only `application/json` (RFC 8259) in UTF-8, with a bounded shape. Large contents are detached
 * first on routes that ask for it (large-strings.ts).
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../system/errors.ts';
import { nextSlice } from '../../system/slices.ts';
import { readBody } from '../transport/body.ts';
import { findShapeViolation } from './json-shape.ts';
import { detachContent } from './large-strings.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True when objects of the body may have any key, including `__proto__`, which is otherwise refused. The code
     * that reads them lists their entries and never assigns by their keys.
     */
    anyKey?: boolean;
  }
}

/**
 * Maximum size of a JSON text without its detached contents: 4 MB of HTML and text in which every letter is escaped, or
 * a batch with 160 KB of them per email. Parsing it blocks the event loop.
 */
export const MAX_TEXT_MIB = 16;
export const MAX_TEXT_BYTES = MAX_TEXT_MIB * 1024 * 1024;

/**
 * Texts that occur in every name that the safe parser refuses, in plain or escaped form. Searching for the names
 * themselves would cost as much as parsing.
 */
const SUSPECTS = ['__proto__', 'constructor', '\\u'];

const FORBIDDEN_NAME =
  'The body must not have a field named `__proto__`, nor `constructor` with `prototype` in it';

/**
 * Size from which the event loop runs other tasks between the passes over a text. One pass over 16 MiB takes 15 to 75
 * ms.
 */
export const LARGE_TEXT_BYTES = 1024 * 1024;

/**
 * Registers the parser of JSON bodies. An empty body of that type counts as no body, so that a DELETE of a client that
 * always sends the header works.
 */
export function readJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const parseSafe = server.getDefaultJsonParser('error', 'error');
  const parseAny = server.getDefaultJsonParser('ignore', 'ignore');
  const parseText = (request: FastifyRequest, text: string, isPlain: boolean): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const parse = isPlain || request.routeOptions.config.anyKey ? parseAny : parseSafe;
      void parse(request, text, (error, value) => {
        if (!error) resolve(mayHaveLongNumbers(text) ? parseExactly(text) : value);
        else reject(isPlain || !isJson(text) ? error : new AppError('validation_error', FORBIDDEN_NAME));
      });
    });
  server.addContentTypeParser(
    'application/json',
    async (request: FastifyRequest, payload: IncomingMessage) => {
      refuseCompressed(request);
      const bytes = await readBody(request, payload);
      if (bytes.length === 0) return undefined;
      const detaches = request.routeOptions.config.detachesContent === true;
      const json = detaches ? await detachContent(request, bytes) : bytes;
      if (json.length > MAX_TEXT_BYTES) {
        throw new AppError(
          'payload_too_large',
          `The request may have at most ${MAX_TEXT_MIB} MiB apart from its attachments`,
        );
      }
      // A JSON text is UTF-8 (RFC 8259 section 8.1). Otherwise replacement characters would appear in the mail.
      if (!isUtf8(json)) throw new AppError('validation_error', 'The body must be UTF-8');
      const excess = findShapeViolation(json);
      if (excess !== undefined) throw new AppError('validation_error', `The body must not ${excess}`);
      if (json.length >= LARGE_TEXT_BYTES) await nextSlice();
      const text = json.toString();
      if (json.length >= LARGE_TEXT_BYTES) await nextSlice();
      return parseText(request, text, !SUSPECTS.some((suspect) => json.includes(suspect)));
    },
  );
}

/**
 * Refuses a compressed body (RFC 9110 section 15.5.16). Otherwise the error would report invalid JSON.
 * @throws AppError unsupported_media_type
 */
export function refuseCompressed({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  throw new AppError('unsupported_media_type', 'The body must be sent without a Content-Encoding');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Names of the objects whose values are the caller's own. */
const OWN_VALUES: ReadonlySet<string> = new Set(['variables', 'properties']);
/** Matches a number that may have more digits than a double can hold, which is 15. */
const MANY_DIGITS = /[:[,]\s*-?\d[\d.]{15}/;

type Exact = { key: string; source: string };
/** The third argument of a reviver, which has the text of a number (ECMAScript 2026, JSON.parse). */
type Context = { source?: string };

/**
 * Returns true when the JSON text may have a number that JavaScript cannot hold. Few have: it costs a small part of
 * parsing.
 */
export function mayHaveLongNumbers(text: string): boolean {
  return MANY_DIGITS.test(text);
}

/**
 * Parses a JSON text that was found to be valid. It keeps the digits of numbers that JavaScript cannot hold, such as ids
 * above 2^53, where callers store values of their own: they become text in objects named `variables` and `properties`.
 * Elsewhere numbers have schemas, which bound them.
 */
export function parseExactly(text: string): unknown {
  const exact = new WeakMap<object, Exact[]>();
  return JSON.parse(text, function (this: object, key: string, ...[value, context]: [unknown, Context?]) {
    const source = context?.source;
    if (typeof value === 'number' && source !== undefined && source.length > 15 && source !== String(value)) {
      const found = exact.get(this);
      if (found) found.push({ key, source });
      else exact.set(this, [{ key, source }]);
    }
    if (typeof value === 'object' && value !== null && OWN_VALUES.has(key))
      for (const one of exact.get(value) ?? []) replaceValue(value, one);
    return value;
  });
}

/** The property is defined and not assigned, because its name may be `__proto__`. */
function replaceValue(holder: object, { key, source }: Exact): void {
  Object.defineProperty(holder, key, { value: source, configurable: true, enumerable: true, writable: true });
}
