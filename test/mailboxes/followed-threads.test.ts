import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountPages, CollectedAccounts } from '../../src/accounts/followed-accounts.ts';
import { FollowedThreads } from '../../src/mailboxes/followed-threads.ts';
import { AppError } from '../../src/system/errors.ts';
import { recordLog } from '../support/record-log.ts';

const pagesOf = (id: string) =>
  ({ id, pages: undefined, isReplaced: false, files: ['1'] }) as unknown as AccountPages;

/** Returns two threads, and the calls that they have had. */
function openThreads(answer: (thread: number) => Promise<CollectedAccounts>) {
  const calls: string[] = [];
  const { log } = recordLog();
  const threads = new FollowedThreads({ log }, (thread) => ({
    async followPages({ isFollowed }) {
      calls.push(`follow ${thread} ${isFollowed}`);
    },
    collectPages() {
      calls.push(`collect ${thread}`);
      return answer(thread);
    },
  }));
  return { threads, calls };
}

test('threads that have no account are not asked, and follow from their first call on', async () => {
  const { threads, calls } = openThreads(async (thread) => [pagesOf(`mbx_${thread}`)]);
  threads.use(0);
  assert.equal(await threads.collect(), 'lost');
  await threads.follow(true);
  assert.deepEqual(await threads.collect(), [pagesOf('mbx_0')]);
  threads.use(1);
  threads.use(1);
  assert.deepEqual(await threads.collect(), [pagesOf('mbx_0'), pagesOf('mbx_1')]);
  await threads.follow(false);
  assert.equal(await threads.collect(), 'lost');
  assert.deepEqual(calls, [
    ...['follow 0 true', 'collect 0', 'follow 1 true', 'collect 0', 'collect 1'],
    ...['follow 0 false', 'follow 1 false'],
  ]);
});

test('an account that was closed stays in its thread until a later collection has ended', async () => {
  const first = Promise.withResolvers<CollectedAccounts>();
  const answers = [first.promise, Promise.resolve([])];
  const { threads } = openThreads(() => answers.shift() ?? Promise.resolve([]));
  threads.use(1);
  threads.noteClosed('mbx_1', 1);
  assert.equal(threads.threadOf('mbx_1'), undefined);
  await threads.follow(true);
  threads.noteClosed('mbx_1', 1);
  const collecting = threads.collect();
  threads.noteClosed('mbx_2', 1);
  assert.deepEqual([threads.threadOf('mbx_1'), threads.threadOf('mbx_2')], [1, 1]);
  first.resolve([]);
  await collecting;
  assert.deepEqual([threads.threadOf('mbx_1'), threads.threadOf('mbx_2')], [undefined, 1]);
  await threads.collect();
  assert.equal(threads.threadOf('mbx_2'), undefined);
});

test('the changes are lost when one thread has died or begun again', async () => {
  let answer: () => Promise<CollectedAccounts> = async () => 'lost';
  const { threads } = openThreads((thread) => (thread === 0 ? Promise.resolve([]) : answer()));
  threads.use(0);
  threads.use(1);
  await threads.follow(true);
  assert.equal(await threads.collect(), 'lost');
  for (const error of [new AppError('interrupted', 'died'), new Error('a bug')]) {
    answer = () => Promise.reject(error);
    assert.equal(await threads.collect(), 'lost');
  }
});
