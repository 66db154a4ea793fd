/**
 * Routes of an import of contacts that waits to be started: its preview, again and again with another mapping, and its start. So a file is
 * uploaded once, and a person can look at what would become of it.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import type { JobRow } from '../../db/marketing-tables.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { fileParameters } from '../../imports/file-parameters.ts';
import { readFileParameters } from '../../imports/options.ts';
import { previewWaiting } from '../../imports/preview.ts';
import { importSchema, showImport } from '../../imports/schemas.ts';
import { getJob, startJob } from '../../jobs/store.ts';
import { notFound } from '../../system/errors.ts';
import { callerOf, reachOf } from '../../tenants/authenticate.ts';
import { requesterOf } from '../opt-in/request.ts';
import { importQuery, previewOfContacts } from './api.ts';
import { type ContactImportOptions, contactImport } from './import.ts';
import { CONTACT_FIELDS, isContactField } from './import-columns.ts';

const PATH = '/audiences/:audienceId/contacts/imports/:id';
const PREVIEW = `${PATH}/preview`;
const START = `${PATH}/start`;

const { mapping, encoding } = fileParameters(CONTACT_FIELDS);
const previewBody = Type.Object({ mapping, encoding }, { examples: [{ mapping: '{"Mail":"email"}' }] });
const startBody = Type.Object(
  { mapping, encoding, onConflict: importQuery.properties.onConflict },
  { examples: [{ mapping: '{"Mail":"email","Notes":null}', onConflict: 'skip' }] },
);

type Params = { audienceId: string; id: string };
type PreviewRequest = { Params: Params; Body: Static<typeof previewBody> };
type StartRequest = { Params: Params; Body: Static<typeof startBody> };

/** Adds the routes to the server. */
export function registerWaitingImports(server: FastifyInstance, app: App): void {
  const tags = ['Contacts'];
  const preview = {
    operationId: 'previewWaitingImport',
    summary: 'Preview an import that waits',
    description:
      'Returns how the file would be read with a mapping. Nothing is imported or stored. Without a mapping, a heading line that cannot be used gives columns without fields, and a warning.',
    tags,
    ...paramsOf(PREVIEW),
    body: previewBody,
    response: { 200: previewOfContacts },
  };
  const config = { refuses: ['invalid_state'] as const, bodyOptional: true };
  const reading = { ...config, needs: 'read', worksOnLowDisk: true } as const;
  server.post<PreviewRequest>(PREVIEW, { config: reading, schema: preview }, async (request) => {
    const job = await findImport(app, request);
    const options = readFileParameters(request.body, isContactField, CONTACT_FIELDS);
    return previewWaiting(app, contactImport, { job, options, isLenient: options.mapping === undefined });
  });
  const start = {
    operationId: 'startImport',
    summary: 'Start an import that waits',
    description: 'The rows are imported afterwards; `GET /v1/imports/{id}` shows the progress.',
    tags,
    ...paramsOf(START),
    body: startBody,
    response: { 200: importSchema },
  };
  server.post<StartRequest>(START, { config, schema: start }, async (request) => {
    const job = await findImport(app, request);
    const { onConflict, ...file } = request.body;
    const chosen = readFileParameters(file, isContactField, CONTACT_FIELDS);
    // The heading line is checked with the mapping, so that an unusable one is refused at once.
    await previewWaiting(app, contactImport, { job, options: chosen });
    const { waits: _, ...before } = JSON.parse(job.options) as ContactImportOptions;
    // Whoever starts an import decides that its contacts get confirmation mail, which then waits as other mail of a key that requires approval.
    const starter = requesterOf(callerOf(request));
    const options = JSON.stringify({
      ...before,
      ...chosen,
      ...(onConflict !== undefined && { onConflict }),
      ...(starter.askedBy !== null && { requester: starter }),
    } satisfies ContactImportOptions);
    const { id } = job;
    const started = { reach: reachOf(request), type: 'import', id, options, now: app.clock.now() } as const;
    return showImport(await app.db.commit(startJob, started));
  });
}

/**
 * Returns the import of an audience.
 * @throws AppError not_found
 */
async function findImport(
  { db }: Pick<App, 'db'>,
  request: FastifyRequest<{ Params: Params }>,
): Promise<JobRow> {
  const { audienceId, id } = request.params;
  const job = await getJob(db.read, reachOf(request), { type: 'import', id });
  if (job.audienceId !== audienceId) throw notFound('Import');
  return job;
}
