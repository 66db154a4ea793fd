import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPostStart, startPostsIfNeeded } from '../../../src/routes/post/start.ts';
import { sharePostWorld } from './post-world.ts';

const inWorld = sharePostWorld();

/** A thread that counts how often it was started. */
function countStarts() {
  let starts = 0;
  return {
    starts: () => starts,
    start: async () => {
      starts += 1;
    },
  };
}

test('the thread of posts starts once there is a route, and once only', () =>
  inWorld(async ({ test: { app }, addRoute }) => {
    const thread = countStarts();
    const work = createPostStart(app, thread);
    await startPostsIfNeeded(app, thread);
    assert.deepEqual(await work.lease(1), { items: [], nextDueAt: undefined });
    assert.equal(thread.starts(), 0);
    await addRoute();
    await work.lease(1);
    await work.lease(1);
    assert.equal(thread.starts(), 1);
    await startPostsIfNeeded(app, thread);
    assert.equal(thread.starts(), 2);
  }));

test('the thread of posts starts for a post to a route that was deleted', () =>
  inWorld(async ({ test: { app }, addRoute, deliver, side }) => {
    const thread = countStarts();
    await deliver('Subject: a\r\n\r\nb\r\n', [await addRoute()]);
    await side.deleteFrom('inboundRoutes').execute();
    await createPostStart(app, thread).lease(1);
    assert.equal(thread.starts(), 1);
  }));

test('a thread of posts that cannot start fails the start of the daemon, and not the work that starts it later', () =>
  inWorld(async ({ test: { app }, addRoute }) => {
    await addRoute();
    const thread = { start: () => Promise.reject(new Error('no free file')) };
    await assert.rejects(startPostsIfNeeded(app, thread), /no free file/);
    assert.deepEqual((await createPostStart(app, thread).lease(1)).items, []);
  }));
