/** Files sent, and jobs run to their end without the worker, one after another. */
import type { App } from '../../src/app.ts';
import { contactExport } from '../../src/audiences/csv/export.ts';
import { contactImport } from '../../src/audiences/csv/import.ts';
import { linkExport } from '../../src/broadcasts/clicked-links/export.ts';
import { recipientExport } from '../../src/broadcasts/recipients/export.ts';
import type { JobRow } from '../../src/db/marketing-tables.ts';
import type { ExportHandler } from '../../src/exports/handler.ts';
import { exportJobs } from '../../src/exports/run.ts';
import type { ImportHandler } from '../../src/imports/handler.ts';
import { importJobs } from '../../src/imports/run.ts';
import { type RunEnd, runJob } from '../../src/jobs/run.ts';
import { beginJob, JOB_KINDS, type RunningJob } from '../../src/jobs/store.ts';
import { suppressionExport } from '../../src/suppressions/export.ts';
import { suppressionImport } from '../../src/suppressions/import.ts';
import { leaseOf } from '../../src/tasks/kind.ts';
import { leaseTasksOf } from '../support/tasks.ts';
import type { TestApp, TestResponse } from '../support/test-app.ts';

export const exportHandlers = {
  contacts: contactExport,
  suppressions: suppressionExport,
  recipients: recipientExport,
  links: linkExport,
};

export const importHandlers = { contacts: contactImport, suppressions: suppressionImport };

export function importHandlerOf({ kind }: JobRow): ImportHandler {
  if (kind === 'recipients' || kind === 'links') throw new Error(`${kind} are not imported`);
  return importHandlers[kind];
}

export async function sendCsv(
  { inject, testKey }: Pick<TestApp, 'inject' | 'testKey'>,
  path: string,
  file: string | Buffer,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const response = await inject({
    method: 'POST',
    url: path,
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'text/csv', ...headers },
    payload: file,
  });
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(response.body) };
}

export async function newAudience({ request }: TestApp, name = 'Readers'): Promise<string> {
  return (await request('POST', '/v1/audiences', { body: { name } })).body.id;
}

/** Leases the first waiting job of a type, as the engine does. */
export async function lease(
  { app, tenantId }: Pick<TestApp, 'app' | 'tenantId'>,
  type: JobRow['type'] = 'import',
): Promise<RunningJob[]> {
  const tasks = await leaseTasksOf(app, { kind: JOB_KINDS[type], queue: tenantId });
  const now = app.clock.now();
  const jobs = await Promise.all(tasks.map((task) => app.db.commit(beginJob, { lease: leaseOf(task), now })));
  return jobs.filter((job) => job !== undefined);
}

/** Runs an import once, as the worker does. */
export function runImport(
  app: App,
  handler: ImportHandler,
  job: RunningJob,
  isStopping: () => boolean = () => false,
): Promise<RunEnd> {
  const handlers = { contacts: handler, suppressions: handler };
  return runJob(app, importJobs(app, handlers), { job, isStopping });
}

/** Runs an export once, as the worker does. */
export function runExport(
  app: App,
  handler: ExportHandler,
  job: RunningJob,
  isStopping: () => boolean = () => false,
): Promise<RunEnd> {
  const handlers = { contacts: handler, suppressions: handler, recipients: handler, links: handler };
  return runJob(app, exportJobs(app, handlers), { job, isStopping });
}

/** Sends a file and runs its job, and those before it; answers what the API says of it then. */
export async function importCsv(
  test: TestApp,
  path: string,
  file: string | Buffer,
): Promise<TestResponse['body']> {
  const sent = await sendCsv(test, path, file);
  if (sent.status !== 202) throw new Error(`refused: ${JSON.stringify(sent.body)}`);
  for (let [job] = await lease(test); job; [job] = await lease(test)) {
    await runImport(test.app, importHandlerOf(job), job, () => false);
  }
  return (await test.request('GET', `/v1/imports/${sent.body.id}`)).body;
}

/** Asks for an export, runs it, and answers the job and its file. */
export async function exportCsv(
  test: TestApp,
  path: string,
  body?: unknown,
): Promise<{ job: TestResponse['body']; file: string }> {
  const asked = await test.request('POST', path, body === undefined ? {} : { body });
  if (asked.status !== 202) throw new Error(`refused: ${JSON.stringify(asked.body)}`);
  for (let [job] = await leaseExportsOf(test); job; [job] = await leaseExportsOf(test)) {
    await runExport(test.app, exportHandlers[job.kind], job, () => false);
  }
  const job = (await test.request('GET', `/v1/exports/${asked.body.id}`)).body;
  const file = (await test.request('GET', `/v1/exports/${asked.body.id}/file`)).body;
  return { job, file };
}

export function leaseExportsOf(test: TestApp): Promise<RunningJob[]> {
  return lease(test, 'export');
}
