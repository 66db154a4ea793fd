/**
 * Registers the operator's routes of background work: the tasks that have failed. They are served on the control socket alone, never on
 * a network port.
 */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { type FailedTask, listFailedTasks } from './read-store.ts';
import { discardFailedTask, retryFailedTask } from './store.ts';

/** Maximum number of tasks in one answer. */
const MAX_LISTED = 100;

/** The failed tasks as the control socket answers with them. */
export type FailedTasks = { hasMore: boolean; tasks: readonly FailedTask[] };

type ByKey = { Params: { kind: string; reference: string } };

/** Registers `GET /tasks`, `POST /tasks/{kind}/{reference}/retry` and `DELETE /tasks/{kind}/{reference}`. */
export function registerTaskAdmin(server: FastifyInstance, { db, clock }: Pick<App, 'db' | 'clock'>): void {
  const path = '/tasks/:kind/:reference';
  server.get('/tasks', async (): Promise<FailedTasks> => {
    const found = await listFailedTasks(db.read, MAX_LISTED + 1);
    return { hasMore: found.length > MAX_LISTED, tasks: found.slice(0, MAX_LISTED) };
  });
  server.post<ByKey>(`${path}/retry`, async ({ params: { kind, reference } }) => {
    await db.commit(retryFailedTask, { kind, reference, dueAt: clock.now() });
    return {};
  });
  server.delete<ByKey>(path, async ({ params: { kind, reference } }) => {
    await db.commit(discardFailedTask, { kind, reference });
    return {};
  });
}
