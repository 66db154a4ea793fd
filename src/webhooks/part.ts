/**
 * The background work of webhooks as a part of the daemon: the fan-out of events, posts, replays and the end of old
 * secrets. It runs in a thread of its own, so that receivers, however slow or large their answers are, never delay the
 * API.
 */

import type { Part } from '../system/thread/part.ts';
import { moduleBeside } from '../system/thread.ts';
import { startWork } from '../system/worker.ts';
import { startTasks } from '../tasks/engine.ts';
import type { PartApp, QueryingApp } from '../thread-app.ts';
import { type Post, post } from './deliver.ts';
import { createFanOutWork } from './fan-out.ts';
import { createReplayKind } from './log/replay.ts';
import type { PostOutcome } from './posting/post.ts';
import { createSecretSweep, createWebhookKind } from './posts.ts';

export type WebhookCalls = {
  /** Posts once, for a test of an endpoint. */
  post(request: Post): Promise<PostOutcome>;
};

/**
 * Maximum heap of the thread. 256 posts in flight with their events take about 20 MB; bodies of answers are cut at 4
 * KB.
 */
const HEAP_MEGABYTES = 128;

/** Starts the work. */
function startWebhooks(app: QueryingApp): Part<WebhookCalls> {
  const works = [
    startWork(app, createFanOutWork(app)),
    startTasks(app, [createWebhookKind(app), createReplayKind(app)]),
    startWork(app, createSecretSweep(app)),
  ];
  return {
    calls: webhookCalls(app),
    async stop(graceMs) {
      await Promise.all(works.map((work) => work.stop(graceMs)));
    },
  };
}

/** Mail is delivered without this thread, and due posts are made after its restart. */
export const WEBHOOK_PART = {
  name: 'webhooks',
  module: moduleBeside(import.meta.url, 'webhook-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  start: startWebhooks,
};

/** Returns the calls, for a process that does not run the work. */
export function webhookCalls(app: PartApp): WebhookCalls {
  return { post: (request) => post(app, request) };
}
