/** Starts the thread of the posts to routes. An installation without routes never has it. */
import type { App } from '../../app.ts';
import { POST_TASKS } from '../../inbound/tasks/store.ts';
import { createThreadStart, type StartableThread, startIfNeeded } from '../../system/thread/on-demand.ts';
import type { Work } from '../../system/worker.ts';
import { needsPosts } from '../store.ts';

/**
 * Starts the thread if there are routes.
 * @throws the error for which it could not start
 */
export function startPostsIfNeeded({ db }: Pick<App, 'db'>, thread: StartableThread): Promise<void> {
  return startIfNeeded(thread, { isNeeded: () => needsPosts(db.read) });
}

/** Returns the work that starts the thread once there are routes. */
export function createPostStart({ db }: Pick<App, 'db'>, thread: StartableThread): Work<never> {
  return createThreadStart(thread, {
    name: 'start of inbound posts',
    wakeOn: ['tasks'],
    concerns: (subjects) => subjects?.some((subject) => subject.startsWith(POST_TASKS)) ?? true,
    isNeeded: () => needsPosts(db.read),
  });
}
