/** Mail of the installation after it has ended, and without an address that it could go to. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { kyselyOn } from '../../../src/db/dialect.ts';
import { createForwardKind } from '../../../src/mailbox-delivery/forward/work.ts';
import { suppressRecipient } from '../../../src/queue/bounce.ts';
import { receivedSteps } from '../../../src/receiving/expire.ts';
import { INSTALLATION_TENANT } from '../../../src/tenants/installation.ts';
import { openMailWorld, sendMail } from '../../inbound/mail-world.ts';
import { runDueTasks } from '../../support/tasks.ts';

const DAY_MS = 86_400_000;
const world = await openMailWorld();

test('without an address of the operator the mail of the postmaster is kept and nothing else is done', async () => {
  assert.match(await sendMail(await world.open(), { to: 'postmaster@mx.postrider.example' }), /^250 /);
  const [message] = await world.messages();
  assert.deepEqual([await world.tasks(), message?.endedAt], [[], message?.createdAt]);
});

test('the bytes that a forwarded message shares are deleted with the last message that needs them', async () => {
  const forwarding = await openMailWorld({ env: { POSTRIDER_INBOUND_POSTMASTER: 'ops@operator.example' } });
  const { app: other, clock: time } = forwarding;
  await sendMail(await forwarding.open(), { to: 'postmaster@mx.postrider.example' });
  await time.advance(100);
  await runDueTasks(other, createForwardKind(other));
  const expire = async () => {
    const deleted: Record<string, number> = {};
    for (const step of receivedSteps(other))
      deleted[step.kind] = (await step.expire(time.now(), { after: '', rows: 50 })).deleted;
    return deleted;
  };
  const count = async () =>
    Promise.all(
      (['messages', 'recipients', 'blobs'] as const).map(
        async (table) => (await other.db.read.selectFrom(table).selectAll().execute()).length,
      ),
    );
  await time.advance(8 * DAY_MS);
  assert.deepEqual(await expire(), { received_contents: 1, reports: 0, forwarded: 0, received: 0 });
  assert.deepEqual(await count(), [1, 1, 1], 'mail that is still tried keeps its bytes');
  const side = openWriting(join(forwarding.test.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare("UPDATE messages SET status = 'delivered', lastEventAt = ?").run(time.now());
  await time.advance(7 * DAY_MS);
  assert.equal((await expire())['forwarded'], 0, 'another recipient is still tried');
  side.prepare("UPDATE recipients SET state = 'bounced'").run();
  side.prepare('UPDATE messages SET lastEventAt = ?').run(time.now());
  side.close();
  await time.advance(7 * DAY_MS - 1);
  assert.equal((await expire())['forwarded'], 0);
  await time.advance(1);
  assert.equal((await expire())['forwarded'], 1);
  assert.deepEqual(await count(), [0, 0, 0]);
});

test('an address that bounces mail of the installation is not suppressed, since nobody could lift that', async () => {
  const side = openWriting(join(world.test.dataDir, 'postrider.db'), 'NORMAL');
  const { tenantId } = world.test;
  for (const one of [INSTALLATION_TENANT, tenantId])
    await suppressRecipient(
      kyselyOn(side),
      { id: 'em_1', tenantId: one, mode: 'live' },
      { recipient: { address: 'ops@operator.example' }, reason: 'bounce', diagnostic: '', now: 1 },
    );
  const rows = await world.app.db.read.selectFrom('suppressions').select('tenantId').execute();
  side.close();
  assert.deepEqual(rows, [{ tenantId }]);
});
