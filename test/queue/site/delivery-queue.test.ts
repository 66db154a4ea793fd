import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQueueKey, queueKeyOf, rerouteQueue } from '../../../src/queue/queue-key.ts';
import { DeliveryQueue, MAX_MESSAGES_IN_MEMORY } from '../../../src/queue/site/delivery-queue.ts';

const KEY = queueKeyOf({ mode: 'live', kind: 'transactional', tenantId: 'ten_1' }, 'a.example');

/** A table of messages with somebody due, one for each recipient. */
function fakeTable(messageIds: string[]) {
  const reads: number[] = [];
  return {
    messageIds,
    reads,
    read: async (_lane: string, limit: number, except: readonly string[]) => {
      reads.push(limit);
      return messageIds.filter((id) => !except.includes(id)).slice(0, limit);
    },
  };
}

async function takeAll(queue: DeliveryQueue): Promise<string[]> {
  const taken: string[] = [];
  for (;;) {
    const messageId = await queue.next();
    if (messageId === undefined) return taken;
    taken.push(messageId);
  }
}

test('the key of a queue names its mode, kind, tenant and domain', () => {
  const name = { mode: 'live', kind: 'broadcast', tenantId: 'ten_1', domain: 'a.example' } as const;
  const key = queueKeyOf(name, 'a.example');
  assert.deepEqual(parseQueueKey(key), { ...name, target: undefined });
  const rerouted = rerouteQueue(key, 'relay.example');
  assert.deepEqual(parseQueueKey(rerouted), { ...name, target: 'relay.example' });
  assert.equal(rerouteQueue(rerouted, undefined), key);
});

test('test mail of all domains waits in one queue', () => {
  const tenant = { mode: 'test', kind: 'transactional', tenantId: 'ten_1' } as const;
  assert.equal(queueKeyOf(tenant, 'a.example'), queueKeyOf(tenant, 'b.example'));
});

test('messages come in order, each once however many of its recipients are due', async () => {
  const table = fakeTable(['em_1', 'em_1', 'em_2']);
  const queue = new DeliveryQueue(KEY, table.read);
  assert.deepEqual(await takeAll(queue), ['em_1', 'em_2']);
});

test('a message that is handed out is not handed out again before its claim is on disk', async () => {
  const table = fakeTable(['em_1', 'em_2']);
  const queue = new DeliveryQueue(KEY, table.read);
  assert.equal(await queue.next(), 'em_1');
  assert.equal(await queue.next(), 'em_2');
  table.messageIds.push('em_3');
  queue.notify();
  assert.deepEqual(await takeAll(queue), ['em_3']);
  assert.equal(queue.isDone, false);
});

test('after a claim the queue is read again, because a claim takes a limited number of recipients', async () => {
  const table = fakeTable(['em_1']);
  const queue = new DeliveryQueue(KEY, table.read);
  await takeAll(queue);
  queue.claimed('em_1');
  assert.equal(queue.isDone, false);
  assert.equal(await queue.next(), 'em_1');
  table.messageIds.length = 0;
  queue.claimed('em_1');
  assert.deepEqual(await takeAll(queue), []);
  assert.equal(queue.isDone, true);
});

test('a queue holds a few messages in memory, however many are due', async () => {
  const table = fakeTable(Array.from({ length: 1_000 }, (_, index) => `em_${index}`));
  const queue = new DeliveryQueue(KEY, table.read);
  await queue.next();
  assert.deepEqual(table.reads, [MAX_MESSAGES_IN_MEMORY]);
});

test('a message with more recipients than one read returns is handed out once', async () => {
  const table = fakeTable(Array.from({ length: 2 * MAX_MESSAGES_IN_MEMORY }, () => 'em_1'));
  const queue = new DeliveryQueue(KEY, table.read);
  assert.deepEqual(await takeAll(queue), ['em_1']);
  assert.equal(table.reads.length, 2);
});

test('a queue without due mail is done after one read', async () => {
  const table = fakeTable([]);
  const queue = new DeliveryQueue(KEY, table.read);
  assert.deepEqual(await takeAll(queue), []);
  assert.equal(queue.isDone, true);
  await queue.next();
  assert.equal(table.reads.length, 1);
});
