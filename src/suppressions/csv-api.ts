/**
 * Routes for files of suppressions: they upload a file for import, and request a file for export. The folders imports
 * and exports do the work.
 */

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { createExport } from '../exports/create.ts';
import { acceptedExportSchema, showExport } from '../exports/schemas.ts';
import { csvBody, MAX_CSV_BODY_BYTES } from '../http/json/csv-body.ts';
import { createImport } from '../imports/create.ts';
import { fileParameters } from '../imports/file-parameters.ts';
import { readFileParameters } from '../imports/options.ts';
import { previewImport, previewSchema } from '../imports/preview.ts';
import { acceptedImportSchema, showImport } from '../imports/schemas.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { type SuppressionImportOptions, suppressionImport } from './import.ts';
import { isSuppressionField, SUPPRESSION_FIELDS } from './import-columns.ts';

const TAG = 'Suppressions';
const REASONS = ['manual', 'bounce', 'complaint', 'unsubscribe'] as const;

const importQuery = Type.Object({
  reason: Type.Optional(
    Type.Enum(REASONS, {
      description: 'Reason for rows that name none, or one that is not understood; default manual.',
    }),
  ),
  ...fileParameters(SUPPRESSION_FIELDS),
});

const FILE = `At most 50 MiB with commas, semicolons, tabs or bars, in UTF-8, UTF-16 with a byte order mark, or another \
\`encoding\`. The columns are \`email\`, \`reason\`, \`diagnostic\` and \`createdAt\`; the names that SendGrid, Mailgun, Amazon SES, \
Postmark, Mandrill, Brevo and Mailchimp give to them are known, and so are their words for reasons. Other columns are not read. A \
first line with an address is a row, not a heading line.`;

const previewOfSuppressions = previewSchema('SuppressionImportPreview', {
  email: 'reader@example.com',
  reason: 'bounce',
  diagnostic: '550 5.1.1 no such user',
  createdAt: '2026-03-01T09:00:00.000Z',
});

const exportRequestSchema = Type.Object(
  { reason: Type.Optional(Type.Enum(REASONS, { description: 'Only suppressions with this reason.' })) },
  { examples: [{ reason: 'complaint' }] },
);

/** Registers the file routes. */
export function registerSuppressionFiles(server: FastifyInstance, app: App): void {
  server.post<{ Body: Buffer; Querystring: Static<typeof importQuery> }>(
    '/suppressions/imports',
    {
      bodyLimit: MAX_CSV_BODY_BYTES,
      config: { takesCsv: true },
      schema: {
        operationId: 'importSuppressions',
        summary: 'Import suppressions from a CSV file',
        description:
          'The response is sent once the file is on disk. Its rows are imported afterwards; `GET /v1/imports/{id}` shows the progress. No events are recorded for them. With `?preview=true` nothing is imported.',
        tags: [TAG],
        querystring: importQuery,
        body: csvBody(FILE, 'email,reason\r\nreader@example.com,complaint\r\n'),
        response: { 200: previewOfSuppressions, 202: acceptedImportSchema },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const { reason, preview, ...file } = request.query;
      const options: SuppressionImportOptions = {
        ...readFileParameters(file, isSuppressionField, SUPPRESSION_FIELDS),
        ...(reason && { reason }),
      };
      const wanted = {
        tenantId,
        kind: 'suppressions',
        audienceId: null,
        options,
        file: request.body,
      } as const;
      if (preview) return reply.code(200).send(await previewImport(app, suppressionImport, wanted));
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
