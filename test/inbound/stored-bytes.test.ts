/** The counter of stored mail is what a recount of the rows finds, whatever has been received and deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { receivedSteps } from '../../src/receiving/expire.ts';
import { INSTALLATION_TENANT } from '../../src/tenants/installation.ts';
import { type ReceivedWorld, shareReceivedWorld } from './received-world.ts';

const inWorld = shareReceivedWorld();
const DAY_MS = 86_400_000;

/** Size that counts for the rows of a message of a tenant. */
const ROWS = 3_072;

/** Returns the counters by tenant, and what the messages add up to. Tenants that store nothing are left out. */
async function count({ side }: ReceivedWorld) {
  const counted = await side.selectFrom('storedMail').selectAll().execute();
  const stored = await side
    .selectFrom('receivedMessages')
    .select([
      'tenantId',
      sql<number>`sum(iif("contentDeletedAt" IS NULL, "sizeBytes", 0) + iif("tenantId" IS NULL, 0, ${ROWS}))`.as(
        'bytes',
      ),
    ])
    .groupBy('tenantId')
    .execute();
  const byTenant = (rows: readonly { tenantId: string | null; bytes: number }[]) =>
    Object.fromEntries(
      rows.flatMap(({ tenantId, bytes }) => (bytes === 0 ? [] : [[tenantId ?? INSTALLATION_TENANT, bytes]])),
    );
  return { counted: byTenant(counted), stored: byTenant(stored) };
}

test('each tenant stores what its messages add up to: their content and their rows, until each is deleted', () =>
  inWorld(async (world) => {
    const { clock } = world;
    const { tenantId: own } = world.test;
    const { tenantId: other } = await world.test.addTenant('other');
    const expect = async (expected: Record<string, number>) => {
      const { counted, stored } = await count(world);
      assert.deepEqual(counted, stored, 'the counter is what the rows add up to');
      assert.deepEqual(counted, expected);
    };
    const endedAt = clock.now();
    await world.receive([], { sizeBytes: 10, endedAt });
    await world.receive([], { sizeBytes: 200, endedAt: endedAt + DAY_MS });
    await world.receive([{ kind: 'forward' }], { sizeBytes: 3_000 });
    await world.receive([], { sizeBytes: 40_000, tenantId: other, endedAt });
    await world.receive([], { sizeBytes: 500_000, tenantId: null, endedAt });
    await expect({ [own]: 3_210 + 3 * ROWS, [other]: 40_000 + ROWS, [INSTALLATION_TENANT]: 500_000 });
    const steps = receivedSteps(world.test.app);
    const expire = async () => {
      for (const step of steps) await step.expire(clock.now(), { after: '', rows: 50 });
    };
    await clock.advance(7 * DAY_MS);
    await expire();
    await expect({ [own]: 3_200 + 3 * ROWS, [other]: ROWS });
    await clock.advance(DAY_MS);
    await expire();
    await expire();
    await expect({ [own]: 3_000 + 3 * ROWS, [other]: ROWS });
    await clock.advance(100 * DAY_MS);
    await expire();
    await expect({ [own]: 3_000 + ROWS });
    assert.equal((await world.messages()).length, 1, 'the rows are gone, and were not subtracted twice');
  }));
