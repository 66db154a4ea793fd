/**
 * The bytes of a body as a value: `application/json` alone (RFC 8259), UTF-8, of a shape that costs little. Large
 * contents of routes that ask for it are taken out first (large-strings.ts).
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../system/errors.ts';
import { nextTurn } from '../system/next-turn.ts';
import { readBody } from './body.ts';
import { findShapeViolation } from './json-shape.ts';
import { detachContent } from './large-strings.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Objects of the body may have any key: `__proto__` is one like any other, where it is otherwise refused. What reads
     * them lists their entries, and assigns nothing by their keys.
     */
    anyKey?: boolean;
  }
}

/**
 * Of a body without its detached contents: 4 MB of HTML and text (api.md 1.2) whose every letter is an escape, or a batch
 * with 160 KB of them an email. Nothing else can be done while it is parsed.
 */
export const MAX_TEXT_MIB = 16;
export const MAX_TEXT_BYTES = MAX_TEXT_MIB * 1024 * 1024;

/** Names that the safe parser refuses, or may be written with; to search a text for them costs it as much as to parse it. */
const SUSPECTS = ['__proto__', 'constructor', '\\u'];

const FORBIDDEN_NAME =
  'The body must not have a field named `__proto__`, nor `constructor` with `prototype` in it';

/** Each look at a text of 16 MiB takes 15 to 75 ms of the event loop: from here on others have a turn between them. */
export const LARGE_TEXT_BYTES = 1024 * 1024;

/** An empty body with that type is no body: a DELETE by a client that always sends the header is fine (decisions.md 13). */
export function readJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const parseSafe = server.getDefaultJsonParser('error', 'error');
  const parseAny = server.getDefaultJsonParser('ignore', 'ignore');
  const parseText = (request: FastifyRequest, text: string, isPlain: boolean): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const parse = isPlain || request.routeOptions.config.anyKey ? parseAny : parseSafe;
      void parse(request, text, (error, value) => {
        if (!error) resolve(value);
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
          `The request is too large apart from its attachments; without them it may have ${MAX_TEXT_MIB} MiB`,
        );
      }
      // RFC 8259 8.1. Replacement characters would stand in the mail that is sent.
      if (!isUtf8(json)) throw new AppError('validation_error', 'The body must be UTF-8');
      const excess = findShapeViolation(json);
      if (excess !== undefined) throw new AppError('validation_error', `The body must not ${excess}`);
      if (json.length >= LARGE_TEXT_BYTES) await nextTurn();
      const text = json.toString();
      if (json.length >= LARGE_TEXT_BYTES) await nextTurn();
      return parseText(request, text, !SUSPECTS.some((suspect) => json.includes(suspect)));
    },
  );
}

/** RFC 9110 15.5.16. Taken for what it is not, a compressed body would be said to be broken JSON. */
export function refuseCompressed({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  throw new AppError('unsupported_media_type', 'The body must be sent as it is, without a Content-Encoding');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
