import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dealer } from '../../src/queue/dealer.ts';
import type { DueQueue } from '../../src/queue/due-store.ts';
import { homeOf } from '../../src/queue/share.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const MINUTE_MS = 60_000;
const SHARE = { index: 0, count: 2 };

/** Returns a queue in which mail is due that was never tried. */
const due = (key: string): DueQueue => ({ key, hasRetries: false });

function openDealer() {
  const clock = createFakeClock(0);
  const sent: string[] = [];
  const peers = {
    share: SHARE,
    send: (thread: number, { key, hasRetries }: DueQueue) =>
      void sent.push(`${thread} ${key}${hasRetries ? ', retries' : ''}`),
    listen: () => () => {},
  };
  return { clock, sent, dealer: new Dealer({ clock, peers }) };
}

/** Returns a queue whose home is the thread. */
function queueAt(home: number): string {
  for (let index = 0; ; index++) {
    const queue = `live transactional ten_1 d${index}.example`;
    if (homeOf(queue, SHARE) === home) return queue;
  }
}

const own = queueAt(0);
const foreign = queueAt(1);
const elsewhere = { kind: 'elsewhere', thread: 1, ttlMs: 5 * MINUTE_MS } as const;

test('a thread takes the due queues whose home it is', () => {
  const { dealer, sent } = openDealer();
  assert.deepEqual(dealer.deal([due(own), due(foreign)]), [due(own)]);
  assert.deepEqual(sent, []);
});

test('the owner hears of mail in a queue that was passed on, as long as its route is valid', async () => {
  const { dealer, sent, clock } = openDealer();
  assert.deepEqual(dealer.passOn(own, elsewhere, { isCurrent: true }), { kind: 'elsewhere' });
  assert.deepEqual(sent.splice(0), [`1 ${own}, retries`], 'nobody knows any more whether there are any');
  assert.deepEqual(dealer.deal([due(own)]), []);
  assert.deepEqual(sent.splice(0), [`1 ${own}`]);
  assert.deepEqual(dealer.deal([{ key: own, hasRetries: true }]), []);
  assert.deepEqual(sent.splice(0), [`1 ${own}, retries`]);
  await clock.advance(5 * MINUTE_MS);
  assert.deepEqual(dealer.deal([due(own)]), [due(own)], 'its route is looked up again');
  assert.deepEqual(sent, []);
});

test('a queue whose route may have changed meanwhile is passed on, and then looked up again', () => {
  const { dealer } = openDealer();
  assert.deepEqual(dealer.passOn(own, elsewhere, { isCurrent: false }), { kind: 'elsewhere' });
  assert.deepEqual(dealer.deal([due(own)]), [due(own)]);
});

test('changed routes end what is known of owners', () => {
  const { dealer } = openDealer();
  dealer.passOn(own, elsewhere, { isCurrent: true });
  dealer.forget();
  assert.deepEqual(dealer.deal([due(own)]), [due(own)]);
});

test('threads whose DNS answers differ do not pass a queue to and fro', async () => {
  const { dealer, sent, clock } = openDealer();
  dealer.passOn(own, elsewhere, { isCurrent: true });
  await clock.advance(10_000);
  const to = dealer.passOn(own, elsewhere, { isCurrent: true });
  assert.deepEqual([to.kind, to.kind === 'wait' && to.until], ['wait', 30_000]);
  assert.equal(sent.length, 1);
  await clock.advance(20_000);
  assert.deepEqual(dealer.passOn(own, elsewhere, { isCurrent: true }), { kind: 'elsewhere' });
  assert.equal(sent.length, 2);
});
