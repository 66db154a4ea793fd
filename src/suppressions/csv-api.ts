/**
 * Routes for files of suppressions: they upload a file for import, and request a file for export. The folders imports
 * and exports do the work.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { type CreateExportApp, createExport } from '../exports/create.ts';
import { acceptedExportSchema, showExport } from '../exports/schemas.ts';
import { csvBody, MAX_CSV_BODY_BYTES } from '../http/json/csv-body.ts';
import { type CreateImportApp, createImport } from '../imports/create.ts';
import { acceptedImportSchema, showImport } from '../imports/schemas.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { type SuppressionImportOptions, suppressionImport } from './import.ts';

const TAG = 'Suppressions';
const REASONS = ['manual', 'bounce', 'complaint', 'unsubscribe'] as const;

const importQuery = Type.Object({
  reason: Type.Optional(
    Type.Enum(REASONS, { description: 'Reason for rows that name none; default manual.' }),
  ),
});

const exportRequestSchema = Type.Object(
  { reason: Type.Optional(Type.Enum(REASONS, { description: 'Only suppressions with this reason.' })) },
  { examples: [{ reason: 'complaint' }] },
);

/** Registers the file routes. */
export function registerSuppressionFiles(
  server: FastifyInstance,
  app: CreateImportApp & CreateExportApp,
): void {
  server.post<{ Body: Buffer; Querystring: Static<typeof importQuery> }>(
    '/suppressions/imports',
    {
      bodyLimit: MAX_CSV_BODY_BYTES,
      config: { takesCsv: true },
      schema: {
        operationId: 'importSuppressions',
        summary: 'Import suppressions from a CSV file',
        description:
          'The response is sent once the file is on disk. Its rows are imported afterwards; `GET /v1/imports/{id}` shows the progress. No events are recorded for them.',
        tags: [TAG],
        querystring: importQuery,
        body: csvBody(
          'At most 50 MiB of UTF-8 (or UTF-16 with a byte order mark), with a heading line: `email`, and perhaps `reason`. Other columns are not read.',
          'email,reason\r\nreader@example.com,complaint\r\n',
        ),
        response: { 202: acceptedImportSchema },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const { reason = 'manual' } = request.query;
      const options: SuppressionImportOptions = { reason };
      const wanted = {
        tenantId,
        kind: 'suppressions',
        audienceId: null,
        options,
        file: request.body,
      } as const;
      return reply.code(202).send(showImport(await createImport(app, suppressionImport, wanted)));
    },
  );
  server.post<{ Body: Static<typeof exportRequestSchema> }>(
    '/suppressions/exports',
    {
      config: { bodyOptional: true },
      schema: {
        operationId: 'exportSuppressions',
        summary: 'Export suppressions to a CSV file',
        description: 'The file can be downloaded when the status in `GET /v1/exports/{id}` is `completed`.',
        tags: [TAG],
        body: exportRequestSchema,
        response: { 202: acceptedExportSchema },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const { reason } = request.body;
      const filter = reason === undefined ? {} : { reason };
      const wanted = { tenantId, kind: 'suppressions', audienceId: null, filter } as const;
      return reply.code(202).send(showExport(await createExport(app, wanted)));
    },
  );
}
