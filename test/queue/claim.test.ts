import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimDeliveries, leaseFrom } from '../../src/queue/claim.ts';
import { listDueQueues } from '../../src/queue/due-store.ts';
import { releaseUnsent } from '../../src/queue/state/recover.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { openSpool } from '../support/spool.ts';

const spool = closeAfterTests()(await openSpool());
const { app, clock } = spool;

function claim(queue: string, { queues = [queue], retriesOnly = [] as string[] } = {}) {
  const [now, leasedUntil] = [clock.now(), leaseFrom(clock.elapsed())];
  const take = [{ queue, limit: 10 }];
  const request = { now, runId: app.runId, leasedUntil, site: 'mx', take, queues, retriesOnly };
  return app.db.commit(claimDeliveries, request);
}

/** Notes an attempt of a recipient that was released, as after a crash: its state alone does not show that it was tried. */
async function wasTried(address: string): Promise<string> {
  const { id, queue } = await app.db.read
    .selectFrom('recipients')
    .select(['id', 'queue'])
    .where('address', '=', address)
    .executeTakeFirstOrThrow();
  const runId = 'an earlier run';
  const [now, leasedUntil] = [clock.now(), leaseFrom(clock.elapsed())];
  const take = [{ queue, limit: 1 }];
  const claimed = await app.db.commit(claimDeliveries, {
    ...{ now, runId, leasedUntil, site: 'mx', take, queues: [queue], retriesOnly: [] },
  });
  const recipientIds = claimed.deliveries.flatMap(({ recipients }) => recipients.map((one) => one.id));
  assert.deepEqual(recipientIds, [id]);
  const claims = claimed.deliveries.map(({ message }) => ({ messageId: message.id, recipientIds }));
  await app.db.commit(releaseUnsent, { now, runId, claims });
  return queue;
}

test('a claim of retries takes the recipients that were tried before, and leaves the others of the same message due', async () => {
  await spool.accept(['old@both.example', 'new0@other.example']);
  const queue = await wasTried('old@both.example');
  const other = queue.replace('both', 'other');
  await spool.accept(['new1@both.example', 'new2@both.example']);
  const listDue = async () =>
    (await app.db.query(listDueQueues, { after: -1, until: clock.now() })).map(({ key, hasRetries }) => [
      key,
      hasRetries,
    ]);
  assert.deepEqual(await listDue(), [
    [queue, true],
    [other, false],
  ]);
  const queues = [queue, other];
  const { deliveries, exhausted } = await claim(queue, { queues, retriesOnly: queues });
  assert.deepEqual(
    deliveries.map(({ recipients }) => recipients.map(({ address, attempts }) => [address, attempts])),
    [[['old@both.example', 2]]],
  );
  assert.deepEqual(exhausted, [queue]);
  assert.deepEqual(await listDue(), [
    [queue, false],
    [other, false],
  ]);
  const rest = await claim(queue);
  assert.deepEqual(
    rest.deliveries.map(({ recipients }) => recipients.map(({ address }) => address)),
    [['new1@both.example', 'new2@both.example']],
  );
});
