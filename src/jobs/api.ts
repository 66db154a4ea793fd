/** The routes that imports and exports have in common: list, retrieve and delete. */
import type { FastifyInstance } from 'fastify';
import type { TObject } from 'typebox';
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { reachOf } from '../tenants/authenticate.ts';
import { JOB_ID_PREFIXES } from './new-job.ts';
import { jobFilter } from './schemas.ts';
import { deleteJob, getJob, type JobKey, listJobs } from './store.ts';

type JobResource = {
  type: JobRow['type'];
  tag: string;
  schema: TObject;
  show: (job: JobRow) => unknown;
  /** Text of the route that deletes a job. */
  deletion: string;
};

/** Registers the common routes of a type of job. */
export function registerJobRoutes(
  server: FastifyInstance,
  app: Pick<App, 'db' | 'blobs'>,
  { type, deletion, ...resource }: JobResource,
): void {
  const jobs = resourceRoutes<JobRow>(server, {
    ...resource,
    name: type,
    path: `/${type}s`,
    prefix: JOB_ID_PREFIXES[type],
  });
  jobs.list({ query: jobFilter }, (request, page) => {
    const { status, kind, audienceId } = request.query;
    return listJobs(app.db.read, reachOf(request), { ...page, type, status, kind, audienceId });
  });
  jobs.get({}, (request) => getJob(app.db.read, reachOf(request), { type, id: request.params.id }));
  jobs.delete({ description: deletion, refuses: ['invalid_state'] }, (request) =>
    deleteWhole(app, { reach: reachOf(request), type, id: request.params.id }),
  );
}

async function deleteWhole({ db, blobs }: Pick<App, 'db' | 'blobs'>, job: JobKey): Promise<void> {
  for (;;) {
    const { isGone, file } = await db.commit(deleteJob, job);
    if (file) await blobs.discard(file);
    if (isGone) return;
  }
}
