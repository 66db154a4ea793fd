/** Routes for files of contacts: they upload a file for import, and request a file for export. */

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import type { AudienceRow } from '../../db/marketing-tables.ts';
import { createExport } from '../../exports/create.ts';
import { acceptedExportSchema, showExport } from '../../exports/schemas.ts';
import { csvBody, MAX_CSV_BODY_BYTES } from '../../http/json/csv-body.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { createImport } from '../../imports/create.ts';
import { fileParameters } from '../../imports/file-parameters.ts';
import { readFileParameters } from '../../imports/options.ts';
import { previewImport, previewSchema } from '../../imports/preview.ts';
import { acceptedImportSchema, showImport } from '../../imports/schemas.ts';
import { invalid } from '../../system/errors.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { forTextFields, TEXT_FIELD_NAMES, TEXT_FIELDS } from '../contacts/text-fields.ts';
import { requesterOf } from '../opt-in/request.ts';
import { filterOf } from '../segments/scan.ts';
import { findSegment } from '../segments/store.ts';
import { getAudience } from '../store.ts';
import type { ContactExportFilter } from './export.ts';
import { type ContactImportOptions, contactImport } from './import.ts';
import { CONTACT_FIELDS, isContactField } from './import-columns.ts';

const TAG = 'Contacts';
const IMPORTS_PATH = '/audiences/:audienceId/contacts/imports';
const EXPORTS_PATH = '/audiences/:audienceId/contacts/exports';

export const importQuery = Type.Object({
  onConflict: Type.Optional(
    Type.Enum(['update', 'skip'], {
      description:
        'Whether contacts that exist already are updated or skipped; default update. Neither subscribes a contact again.',
    }),
  ),
  ...fileParameters(CONTACT_FIELDS),
  wait: Type.Optional(
    Type.Boolean({
      description:
        'True stores the file and imports nothing before `POST /v1/audiences/{audienceId}/contacts/imports/{id}/start`.',
    }),
  ),
});

export const previewOfContacts = previewSchema('ContactImportPreview', {
  email: 'ada@example.com',
  ...forTextFields((name) => TEXT_FIELDS[name].example),
  status: 'subscribed',
  properties: { plan: 'pro' },
  topics: [],
});

const exportRequestSchema = Type.Object(
  {
    segmentId: Type.Optional(
      Type.String({ description: 'Only contacts of this segment, which must belong to the audience.' }),
    ),
    unsubscribed: Type.Optional(
      Type.Boolean({
        description: 'Only contacts that are unsubscribed (true), or only those that are not (false).',
      }),
    ),
  },
  { examples: [{ segmentId: 'seg_01khq3z5vgxw1r8t6n2m4c9b7d', unsubscribed: false }] },
);

const FILE = `At most 50 MiB with commas, semicolons, tabs or bars, in UTF-8, UTF-16 with a byte order mark, or another \
\`encoding\`. Headings are read without regard to case, accents, spaces and punctuation: \`email\`, ${TEXT_FIELD_NAMES.map((name) => `\`${TEXT_FIELDS[name].headings[0]}\``).join(', ')}, \
\`unsubscribed\` (true, false, 1, 0, yes, no), \`pending\` (the same; true sends a confirmation mail, as the status of a new contact \
does), \`topics.<id>\` (the same), \`properties.<key>\`, and the names that Mailchimp, HubSpot, Google, Outlook, Klaviyo, Brevo and \
other products give to them. A column of consent, such as \`status\` or \`subscribed\`, decides who is subscribed: when columns \
disagree nobody is, and a row with a value that is not understood is refused. Any other column is a property, whose name is folded to \
letters, digits and underscores: \`Postal Code\` is \`Postal_Code\`, and \`Plan\` and \`plan\` are two. A property that is exactly \
true or false is a boolean, else text. An empty cell leaves its field out. A first line with an address is a row, not a heading line.`;

/** Adds the routes for files of contacts to the server. */
export function registerContactFiles(server: FastifyInstance, app: App): void {
  registerImport(server, app);
  registerExport(server, app);
}

type ImportRequest = {
  Params: { audienceId: string };
  Querystring: Static<typeof importQuery>;
  Body: Buffer;
};

function registerImport(server: FastifyInstance, app: App): void {
  const schema = {
    operationId: 'importContacts',
    summary: 'Import contacts from a CSV file',
    description:
      'The response is sent once the file is on disk. Its rows are imported afterwards; `GET /v1/imports/{id}` shows the progress. No events are recorded for them. With `?preview=true` nothing is imported.',
    tags: [TAG],
    ...paramsOf(IMPORTS_PATH),
    querystring: importQuery,
    body: csvBody(FILE, 'email,first name,plan\r\nada@example.com,Ada,pro\r\n'),
    response: { 200: previewOfContacts, 202: acceptedImportSchema },
  };
  const config = { takesCsv: true };
  server.post<ImportRequest>(
    IMPORTS_PATH,
    { bodyLimit: MAX_CSV_BODY_BYTES, config, schema },
    async (request, reply) => {
      const caller = callerOf(request);
      const { tenantId } = caller;
      const { id: audienceId } = await getAudience(app.db.read, tenantId, request.params.audienceId);
      const { onConflict = 'update', preview, wait, ...file } = request.query;
      const options: ContactImportOptions = {
        ...readFileParameters(file, isContactField, CONTACT_FIELDS),
        onConflict,
        requester: requesterOf(caller),
        ...(wait === true && preview !== true && { waits: true }),
      };
      const wanted = { tenantId, kind: 'contacts', audienceId, options, file: request.body } as const;
      if (preview) return reply.code(200).send(await previewImport(app, contactImport, wanted));
      return reply.code(202).send(showImport(await createImport(app, contactImport, wanted)));
    },
  );
}

type ExportBody = Static<typeof exportRequestSchema>;

function registerExport(server: FastifyInstance, app: App): void {
  const schema = {
    operationId: 'exportContacts',
    summary: 'Export contacts to a CSV file',
    description:
      'The file can be downloaded when the status in `GET /v1/exports/{id}` is `completed`. An import accepts the file, and reads its numbers as text.',
    tags: [TAG],
    ...paramsOf(EXPORTS_PATH),
    body: exportRequestSchema,
    response: { 202: acceptedExportSchema },
  };
  server.post<{ Params: { audienceId: string }; Body: ExportBody }>(
    EXPORTS_PATH,
    { config: { bodyOptional: true }, schema },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const audience = await getAudience(app.db.read, tenantId, request.params.audienceId);
      const filter = await readFilter(app, audience, request.body);
      const wanted = { tenantId, kind: 'contacts', audienceId: audience.id, filter } as const;
      return reply.code(202).send(showExport(await createExport(app, wanted)));
    },
  );
}

/**
 * Reads which contacts a file has.
 * @throws AppError validation_error naming `segmentId`, because an id in a body that names nothing is an invalid field
 */
async function readFilter(
  { db, clock }: App,
  { tenantId, id }: AudienceRow,
  { segmentId, unsubscribed }: ExportBody,
): Promise<ContactExportFilter> {
  const segment = segmentId === undefined ? undefined : await findSegment(db.read, tenantId, segmentId);
  if (segmentId !== undefined && segment?.audienceId !== id) {
    throw invalid('segmentId', '`segmentId` is not the id of one of the segments of this audience');
  }
  return {
    ...(unsubscribed !== undefined && { unsubscribed }),
    ...(segment && { segment: { filter: filterOf(segment), now: clock.now() } }),
  };
}
