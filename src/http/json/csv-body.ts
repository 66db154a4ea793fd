/**
 * Request bodies of type `text/csv` (RFC 4180). Routes that ask for it receive the bytes; all other routes refuse the
 * type. Memory for the body is reserved before it is read (body.ts).
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { AppError } from '../../system/errors.ts';
import { readBody } from '../transport/body.ts';
import { refuseCompressed } from './json-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route whose body is `text/csv`. The handler receives its bytes. */
    takesCsv?: boolean;
  }
}

/** Maximum size of a CSV file. */
export const MAX_CSV_BODY_BYTES = 50 * 1024 * 1024;

/**
 * Registers the parser of CSV bodies. It is called after `readJsonBodies`, which removes the parsers of all other
 * types.
 */
export function readCsvBodies(server: FastifyInstance): void {
  server.addHook('preParsing', (request, _reply, payload, done) => {
    const { takesCsv } = request.routeOptions.config;
    if (takesCsv && hasBody(request) && !isCsv(request)) return done(wrongType('text/csv'));
    done(null, payload);
  });
  server.addContentTypeParser('text/csv', async (request: FastifyRequest, payload: IncomingMessage) => {
    if (!request.routeOptions.config.takesCsv) throw wrongType('application/json');
    refuseCompressed(request);
    const bytes = await readBody(request, payload);
    return bytes.length === 0 ? undefined : bytes;
  });
}

/** Returns the schema of a CSV body for the document. The bytes themselves are not checked. */
export function csvBody(
  description: string,
  example: string,
): { content: Record<string, { schema: TSchema }> } {
  return { content: { 'text/csv': { schema: Type.Unsafe<Buffer>({ description, examples: [example] }) } } };
}

/** Returns the schema of a CSV response. */
export function csvAnswer(description: string, example: string) {
  const schema = Type.String({ description, examples: [example] });
  return { description, content: { 'text/csv': { schema } } };
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isCsv({ headers }: FastifyRequest): boolean {
  return /^text\/csv *(;|$)/i.test(headers['content-type'] ?? '');
}

function wrongType(type: string): AppError {
  return new AppError('unsupported_media_type', `The body must be sent as ${type}`);
}
