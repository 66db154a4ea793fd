/**
 * The posts of received mail as a part of the daemon. It runs in a thread of its own: a body of 10 MB is encoded and
 * signed in tens of milliseconds, which must delay neither the API nor the posts of webhooks, and what large messages need
 * is bounded here.
 */

import { findBlob } from '../../blobs/store.ts';
import { readingTogether } from '../../db/read-together.ts';
import { findOldestPost, findPostedMail } from '../../inbound/tasks/read-store.ts';
import { POST_TASKS, type TaskId } from '../../inbound/tasks/store.ts';
import { createHtmlText } from '../../mail/message/html-text.ts';
import { createMessageParser } from '../../mail/message/parse/parser.ts';
import type { Part } from '../../system/thread/part.ts';
import { moduleBeside } from '../../system/thread.ts';
import { startTasks } from '../../tasks/engine.ts';
import type { TaskKind } from '../../tasks/kind.ts';
import type { PartApp, QueryingApp } from '../../thread-app.ts';
import { createPostKind, type PostingApp } from '../../webhooks/posting/kind.ts';
import type { PostOutcome } from '../../webhooks/posting/post.ts';
import { endRouteSuspensions } from '../store.ts';
import { type DeliveringApp, deliverToRoute, postToRoute, type RoutePost } from './deliver.ts';
import { createDownloadLinks } from './links.ts';
import { PostMemory } from './memory.ts';
import { CLOSED, findReceiver, settlePost } from './settle.ts';

export type RouteCalls = {
  /** Posts once, for a test of a route. */
  post(request: RoutePost): Promise<PostOutcome>;
};

/**
 * Maximum heap of the thread. Texts and fields of messages are in it, at most 12 MB for each large message; the bytes of
 * messages and bodies are not. `PostMemory` bounds both.
 */
const HEAP_MEGABYTES = 256;

/** Starts the work. */
function startRoutePosts(app: QueryingApp): Part<RouteCalls> {
  const htmlText = createHtmlText(app);
  const parser = createMessageParser(app, htmlText);
  const work = startTasks(app, [createRoutePostKind({ ...app, parser })]);
  return {
    calls: routeCalls(app),
    async stop(graceMs) {
      await work.stop(graceMs);
      await Promise.all([parser.close(), htmlText.close()]);
    },
  };
}

/** Mail is received without this thread, and due posts are made after its restart. */
export const POST_PART = {
  name: 'routes',
  module: moduleBeside(import.meta.url, 'post-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  start: startRoutePosts,
};

/** Returns the calls, for a process that does not run the work. */
export function routeCalls(app: PartApp): RouteCalls {
  return { post: (request) => postToRoute(app, request) };
}

/** Returns the kind of the posts to routes. */
export function createRoutePostKind(postingApp: PostingApp & Pick<DeliveringApp, 'parser'>): TaskKind {
  const app: PostingApp & DeliveringApp = {
    ...postingApp,
    links: createDownloadLinks(postingApp),
    memory: new PostMemory(postingApp.clock),
    findMail: readingTogether(postingApp.db.read, findPostedMail),
    findBlob: readingTogether(postingApp.db.read, findBlob),
  };
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
    table: 'inboundRoutes',
    closed: CLOSED,
    metric: { name: 'inbound_posts_total', help: 'Posts to inbound routes.' },
    lagMetric: {
      name: 'inbound_oldest_post_seconds',
      help: 'Age of the oldest message that waits to be posted.',
    },
    findOldest: findOldestPost,
    settle: settlePost,
    endSuspensions: endRouteSuspensions,
    post: ({ reference }, route) => deliverToRoute(app, { id: reference as TaskId, route }),
  });
}
