/** The posts of received messages: what a route is to the common way of posting (webhooks/posting/kind.ts). */
import { findOldestPost, findReceivedTask } from '../../inbound/tasks/read-store.ts';
import { POST_TASKS, type TaskId } from '../../inbound/tasks/store.ts';
import type { TaskKind } from '../../tasks/kind.ts';
import { createPostKind } from '../../webhooks/posting/kind.ts';
import { endRouteSuspensions } from '../store.ts';
import { type DeliveringApp, deliverToRoute } from './deliver.ts';
import { CLOSED, findReceiver, settlePost } from './settle.ts';

/** Returns the kind of the posts to routes. */
export function createRoutePostKind(app: DeliveringApp): TaskKind {
  app.metrics.gauge(
    'inbound_post_bytes',
    'Bytes of messages that are being posted.',
    () => app.memory.usedBytes,
  );
  return createPostKind(app, {
    name: POST_TASKS,
    what: 'inbound route',
    idField: 'routeId',
    find: findReceiver,
    closed: CLOSED,
    metric: { name: 'inbound_posts_total', help: 'Posts to inbound routes.' },
    lagMetric: {
      name: 'inbound_oldest_post_seconds',
      help: 'Age of the oldest message that waits to be posted.',
    },
    findOldest: findOldestPost,
    settle: settlePost,
    endSuspensions: endRouteSuspensions,
    async post({ reference }, route) {
      const id = reference as TaskId;
      const task = await findReceivedTask(app.db.read, id);
      if (!task) return { kind: 'unpostable', error: 'The message is no longer kept' };
      return deliverToRoute(app, { task, route });
    },
  });
}
