import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { INLINE_BYTES } from '../../src/blobs/blobs.ts';
import { insertBlob } from '../../src/blobs/store.ts';
import { receivedSteps } from '../../src/receiving/expire.ts';
import { type ReceivedWorld, shareReceivedWorld } from '../inbound/received-world.ts';

const inWorld = shareReceivedWorld();

const DAY = 86_400_000;

/** Runs each step once, and returns the number of what each has deleted. */
async function expire({ test: { app }, clock }: ReceivedWorld): Promise<number[]> {
  const deleted: number[] = [];
  for (const step of receivedSteps(app).filter(({ kind }) => kind !== 'reports'))
    deleted.push((await step.expire(clock.now(), { after: '', rows: 50 })).deleted);
  return deleted;
}

async function storeBlob({ test: { app }, side }: ReceivedWorld, bytes: Buffer) {
  const blob = await app.blobs.prepare([bytes]);
  await insertBlob(side, blob);
  return blob;
}

test('the bytes are deleted 7 days after the last task has ended, and the rows 90 days after the message came', () =>
  inWorld(async (world) => {
    const { clock } = world;
    const blob = await storeBlob(world, Buffer.alloc(INLINE_BYTES + 1, 'a'));
    const file = join(world.test.dataDir, 'blobs', blob.sha256.slice(0, 2), blob.sha256);
    const [blobId, endedAt] = [blob.id, clock.now()];
    const id = await world.receive([{ kind: 'forward' }], { blobId, endedAt });
    await world.receive([{ kind: 'forward' }]);
    await clock.advance(7 * DAY - 1);
    assert.deepEqual(await expire(world), [0, 0, 0]);
    assert.ok(existsSync(file));
    await clock.advance(1);
    assert.deepEqual(await expire(world), [1, 0, 0]);
    assert.ok(!existsSync(file));
    const message = (await world.messages()).find((row) => row.id === id);
    assert.deepEqual([message?.blobId, message?.contentDeletedAt], [null, clock.now()]);
    assert.deepEqual(await world.side.selectFrom('blobs').selectAll().execute(), []);
    // Plans of deliveries that were given up stay as long as their tasks.
    const tasks = (await world.tasks()).map((task) => ({ taskId: task.id, plan: '{}' }));
    await world.side.insertInto('deliveryPlans').values(tasks).execute();
    await clock.advance(83 * DAY - 1);
    assert.deepEqual(await expire(world), [0, 0, 0]);
    await clock.advance(1);
    // The other message still waits for its task, however old it is.
    assert.deepEqual(await expire(world), [0, 0, 1]);
    assert.equal((await world.messages()).length, 1);
    const kept = (await world.tasks()).map((task) => task.id);
    assert.equal(kept.length, 1);
    const plans = await world.side.selectFrom('deliveryPlans').select('taskId').execute();
    assert.deepEqual(
      plans.map((plan) => plan.taskId),
      kept,
    );
  }));

test('bytes that a message of another tenant shares are kept until that one is processed too', () =>
  inWorld(async (world) => {
    const { clock } = world;
    const { tenantId } = await world.test.addTenant('second');
    const { id: blobId } = await storeBlob(world, Buffer.from('Subject: one\r\n\r\n'));
    const rowsOfBlob = async () =>
      (await world.side.selectFrom('blobs').select('sizeBytes').execute()).length;
    await world.receive([], { blobId, endedAt: clock.now() });
    await world.receive([], { blobId, tenantId, endedAt: clock.now() + DAY });
    await clock.advance(7 * DAY);
    assert.deepEqual(await expire(world), [1, 0, 0]);
    assert.equal(await rowsOfBlob(), 1);
    await clock.advance(DAY);
    assert.deepEqual(await expire(world), [1, 0, 0]);
    assert.equal(await rowsOfBlob(), 0);
  }));
