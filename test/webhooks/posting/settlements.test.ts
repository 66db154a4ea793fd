import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PostSettlement, Settled } from '../../../src/webhooks/posting/settle.ts';
import { Settlements } from '../../../src/webhooks/posting/settlements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Settlements whose writes last until the test ends them. Each names its post in its URL. */
function openSettlements() {
  const writes: { urls: string[]; end(error?: Error): void }[] = [];
  const commit = (_write: unknown, settlements: readonly PostSettlement[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<Settled[]>();
    const done = settlements.map(() => ({ end: 'done', effect: 'none' }) as const);
    writes.push({
      urls: settlements.map(({ url }) => url),
      end: (error) => (error ? reject(error) : resolve(done)),
    });
    return promise;
  };
  const app = { clock: createFakeClock(0), db: { commit }, log: recordLog().log };
  const settlements = new Settlements(app as never, { name: 'settle' } as never);
  const add = (url: string, answer: PostSettlement['answer'] = 'taken') =>
    settlements.add({ url, answer } as PostSettlement);
  const written = (count: number) => waitUntil(() => writes.length === count);
  return { writes, add, written };
}

test('the first post is settled at once, and those that end meanwhile share the next write', async () => {
  const { writes, add, written } = openSettlements();
  const posts = ['a', 'b', 'c'].map((url) => add(url));
  assert.deepEqual(
    writes.map(({ urls }) => urls),
    [['a']],
  );
  writes[0]?.end();
  await written(2);
  assert.deepEqual(writes[1]?.urls, ['b', 'c']);
  writes[1]?.end();
  assert.deepEqual(await Promise.all(posts), Array(3).fill({ end: 'done', effect: 'none' }));
});

test('a failure does not wait for the next write, and takes those along that wait', async () => {
  const { writes, add } = openSettlements();
  const first = add('a');
  writes[0]?.end();
  await first;
  void add('b');
  void add('c', 'refused');
  await new Promise((resolve) => void setImmediate(resolve));
  assert.deepEqual(writes[1]?.urls, ['b', 'c']);
});

test('when a write fails, each of its posts is settled alone, and one that cannot be holds up no other', async () => {
  const { writes, add, written } = openSettlements();
  const posts = ['a', 'b', 'c'].map((url) => add(url));
  writes[0]?.end();
  await written(2);
  writes[1]?.end(new Error('c cannot be stored'));
  await written(4);
  assert.deepEqual(
    writes.slice(2).map(({ urls }) => urls),
    [['b'], ['c']],
  );
  writes[2]?.end();
  await Promise.all(posts.slice(0, 2));
  const late = add('d');
  await written(5);
  writes[4]?.end();
  await late;
});
