/**
 * Bodies of HTML forms: `application/x-www-form-urlencoded`, and `multipart/form-data` (RFC 7578) with files. Memory for
 * a body is reserved before it is read, and the numbers of its fields and files are limited before it is parsed.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../system/errors.ts';
import { readBody } from '../transport/body.ts';
import { type FormPart, readParts } from './multipart.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Maximum number of files in a form; by default no file is accepted. The route sets a `bodyLimit` for them. */
    maxFiles?: number;
  }
}

/** The body of a form. */
export type Form = {
  /** Returns the values of a field in their order; none when the form does not have it. */
  values(name: string): readonly string[];
  /** Names of the fields, without those of files. */
  names: readonly string[];
  files: readonly FormFile[];
  /** True for a form without any field or file. */
  isEmpty: boolean;
};

/** `name` and `mediaType` are what the client says. The name is not a path. `bytes` is a view of the body, which it keeps in memory. */
type FormFile = { field: string; name: string; mediaType: string; bytes: Buffer };

/** Maximum number of fields in a form. The largest of ours has one for each topic of a tenant, and its button. */
export const MAX_FIELDS = 200;

/** The boundary has 1 to 70 characters (RFC 2046 section 5.1.1). */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;

/** Registers the parsers of forms. A handler receives a `Form`; a request without a body has an empty one, whatever type it names. */
export function readForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const read = (parse: Parse) => async (request: FastifyRequest, payload: IncomingMessage) => {
    const { headers } = request;
    if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      throw new AppError('unsupported_media_type', 'A form must be sent without a Content-Encoding');
    }
    const bytes = await readBody(request, payload);
    return bytes.length === 0 ? formOf([], []) : parse(bytes, request);
  };
  server.addContentTypeParser('application/x-www-form-urlencoded', read(parseUrlencoded));
  server.addContentTypeParser('multipart/form-data', read(parseMultipart));
  server.addContentTypeParser('*', read(parseOther));
}

type Parse = (bytes: Buffer, request: FastifyRequest) => Form;

/** A body without a type is taken for the form that it most probably is (RFC 9110 section 8.3). */
function parseOther(bytes: Buffer, { headers }: FastifyRequest): Form {
  if (headers['content-type'] === undefined) return parseUrlencoded(bytes);
  throw new AppError('unsupported_media_type', 'The body must be sent as a form');
}

function parseUrlencoded(bytes: Buffer): Form {
  if (!isUtf8(bytes)) throw unreadable();
  requireFew(count(bytes, '&', MAX_FIELDS) + 1, MAX_FIELDS);
  return formOf([...new URLSearchParams(bytes.toString())], []);
}

function parseMultipart(bytes: Buffer, request: FastifyRequest): Form {
  const mediaType = request.headers['content-type'] ?? '';
  const [, quoted, plain] = BOUNDARY.exec(mediaType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw unreadable();
  const { maxFiles = 0 } = request.routeOptions.config;
  // Every part begins with the boundary, and one more ends the last part.
  requireFew(count(bytes, `--${boundary}`, MAX_FIELDS + maxFiles + 1) - 1, MAX_FIELDS + maxFiles);
  const fields: [string, string][] = [];
  const files: FormFile[] = [];
  for (const { name, filename, mediaType: type, bytes: content } of partsOf(bytes, boundary)) {
    if (filename === undefined) fields.push([name, content.toString()]);
    else if (files.length >= maxFiles) throw tooMany('files', maxFiles);
    else files.push({ field: name, name: filename, mediaType: type, bytes: content });
  }
  requireFew(fields.length, MAX_FIELDS);
  return formOf(fields, files);
}

function partsOf(bytes: Buffer, boundary: string): FormPart[] {
  try {
    return [...readParts(bytes, boundary)];
  } catch (error) {
    throw error instanceof SyntaxError ? unreadable(error) : error;
  }
}

/** Returns a form of fields and files. */
export function formOf(fields: readonly (readonly [string, string])[], files: readonly FormFile[]): Form {
  const byName = Map.groupBy(fields, ([name]) => name);
  return {
    values: (name) => (byName.get(name) ?? []).map(([, value]) => value),
    names: [...byName.keys()],
    files,
    isEmpty: fields.length === 0 && files.length === 0,
  };
}

/** Counts a text in the bytes, and stops beyond the maximum. */
function count(bytes: Buffer, text: string, maximum: number): number {
  let found = 0;
  for (
    let at = bytes.indexOf(text);
    at >= 0 && found <= maximum;
    at = bytes.indexOf(text, at + text.length)
  ) {
    found++;
  }
  return found;
}

function requireFew(found: number, maximum: number): void {
  if (found > maximum) throw tooMany('fields', maximum);
}

function tooMany(what: string, maximum: number): AppError {
  return new AppError('validation_error', `A form must not have more than ${maximum} ${what}`);
}

function unreadable(cause?: unknown): AppError {
  return new AppError('validation_error', 'The form cannot be read', { cause });
}
