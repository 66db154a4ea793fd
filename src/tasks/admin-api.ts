/**
 * Registers the operator's routes of background work: the tasks that have failed. They are served on the control socket alone, never on
 * a network port.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { type Continuation, pageOfFound } from '../db/continued.ts';
import { continuedQuery, DEFAULT_ITEMS } from '../db/continued-query.ts';
import { type FailedTask, listFailedTasks } from './read-store.ts';
import { discardFailedTask, retryFailedTask, type TaskKey } from './store.ts';
import { readTaskId, taskId } from './task-id.ts';

/** A page of failed tasks as the control socket answers with it. */
export type FailedTasks = Continuation & { tasks: readonly FailedTask[] };

type ByKey = { Params: TaskKey };
const listQuery = Type.Object(continuedQuery);

/** Registers `GET /tasks`, `POST /tasks/{kind}/{reference}/retry` and `DELETE /tasks/{kind}/{reference}`. */
export function registerTaskAdmin(server: FastifyInstance, { db, clock }: Pick<App, 'db' | 'clock'>): void {
  const path = '/tasks/:kind/:reference';
  server.get<{ Querystring: Static<typeof listQuery> }>(
    '/tasks',
    { schema: { querystring: listQuery } },
    async ({ query: { limit = DEFAULT_ITEMS, after = '' } }): Promise<FailedTasks> => {
      const found = await listFailedTasks(db.read, { ...readTaskId(after), limit: limit + 1 });
      const { items, ...continuation } = pageOfFound(found, limit, taskId);
      return { ...continuation, tasks: items };
    },
  );
  server.post<ByKey>(`${path}/retry`, ({ params: { kind, reference } }) =>
    db.commit(retryFailedTask, { kind, reference, dueAt: clock.now() }),
  );
  server.delete<ByKey>(path, ({ params: { kind, reference } }) =>
    db.commit(discardFailedTask, { kind, reference }),
  );
}
