/** Starts the thread of the posts to routes. An installation without routes never has it. */
import type { App } from '../../app.ts';
import { POST_TASKS } from '../../inbound/tasks/store.ts';
import type { PartThread } from '../../system/thread.ts';
import type { Work } from '../../system/worker.ts';
import { needsPosts } from '../store.ts';
import type { RouteCalls } from './part.ts';

export type PostThread = Pick<PartThread<RouteCalls>, 'start'>;

/**
 * Starts the thread if there are routes.
 * @throws the error for which it could not start
 */
export async function startPostsIfNeeded({ db }: Pick<App, 'db'>, thread: PostThread): Promise<void> {
  if (await needsPosts(db.read)) await thread.start();
}

/** Returns the work that starts the thread once there are routes. */
export function createPostStart({ db }: Pick<App, 'db'>, thread: PostThread): Work<never> {
  let isNeeded = false;
  return {
    name: 'start of inbound posts',
    wakeOn: ['tasks'],
    concerns: (subjects) => subjects?.some((subject) => subject.startsWith(POST_TASKS)) ?? true,
    async lease() {
      if (!isNeeded) {
        isNeeded = await needsPosts(db.read);
        // A thread that could not start is logged, and started again by itself.
        if (isNeeded) void thread.start().catch(() => {});
      }
      return { items: [], nextDueAt: undefined };
    },
    run: async () => {},
  };
}
