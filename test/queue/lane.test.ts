import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LANE_MESSAGES, Lane, laneOf, readLane } from '../../src/queue/lane.ts';

const KEY = laneOf({ mode: 'live', kind: 'transactional', tenantId: 'ten_1' }, 'a.example');

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

async function takeAll(lane: Lane): Promise<string[]> {
  const taken: string[] = [];
  for (;;) {
    const messageId = await lane.next();
    if (messageId === undefined) return taken;
    taken.push(messageId);
  }
}

test('a lane is of one mode, kind, tenant and domain, and its name says so', () => {
  const name = { mode: 'live', kind: 'broadcast', tenantId: 'ten_1', domain: 'a.example' } as const;
  assert.deepEqual(readLane(laneOf(name, 'a.example')), name);
});

test('test mail waits in one line, whatever its domain', () => {
  const tenant = { mode: 'test', kind: 'transactional', tenantId: 'ten_1' } as const;
  assert.equal(laneOf(tenant, 'a.example'), laneOf(tenant, 'b.example'));
});

test('messages come in order, each once however many of its recipients are due', async () => {
  const table = fakeTable(['em_1', 'em_1', 'em_2']);
  const lane = new Lane(KEY, table.read);
  assert.deepEqual(await takeAll(lane), ['em_1', 'em_2']);
});

test('what is handed out is not handed out again before its claim is on disk', async () => {
  const table = fakeTable(['em_1', 'em_2']);
  const lane = new Lane(KEY, table.read);
  assert.equal(await lane.next(), 'em_1');
  assert.equal(await lane.next(), 'em_2');
  table.messageIds.push('em_3');
  lane.notify();
  assert.deepEqual(await takeAll(lane), ['em_3']);
  assert.equal(lane.isDone, false);
});

test('after a claim the lane looks again, for a claim takes only so many recipients', async () => {
  const table = fakeTable(['em_1']);
  const lane = new Lane(KEY, table.read);
  await takeAll(lane);
  lane.claimed('em_1');
  assert.equal(lane.isDone, false);
  assert.equal(await lane.next(), 'em_1');
  table.messageIds.length = 0;
  lane.claimed('em_1');
  assert.deepEqual(await takeAll(lane), []);
  assert.equal(lane.isDone, true);
});

test('a lane holds a few messages in memory, however many are due', async () => {
  const table = fakeTable(Array.from({ length: 1_000 }, (_, index) => `em_${index}`));
  const lane = new Lane(KEY, table.read);
  await lane.next();
  assert.deepEqual(table.reads, [LANE_MESSAGES]);
});

test('a message with more recipients than a look takes in is handed out once', async () => {
  const table = fakeTable(Array.from({ length: 2 * LANE_MESSAGES }, () => 'em_1'));
  const lane = new Lane(KEY, table.read);
  assert.deepEqual(await takeAll(lane), ['em_1']);
  assert.equal(table.reads.length, 2);
});

test('a lane with nothing due is done after one look', async () => {
  const table = fakeTable([]);
  const lane = new Lane(KEY, table.read);
  assert.deepEqual(await takeAll(lane), []);
  assert.equal(lane.isDone, true);
  await lane.next();
  assert.equal(table.reads.length, 1);
});
