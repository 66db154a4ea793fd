/** Messages that the scripts of a mailbox send wait in the queues of its tenant, so that they delay neither forwards nor reports of others. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { createNotificationKind } from '../../../src/mailbox-delivery/forward/notify.ts';
import { INSTALLATION_TENANT } from '../../../src/tenants/installation.ts';
import { PASS } from '../../inbound/mail-world.ts';
import { runDueTasks } from '../../support/tasks.ts';
import { makeNotificationsDue, openScriptWorld } from './world.ts';

const world = await openScriptWorld();
const { app, test: installation } = world;
const { tenantId } = installation;

async function queues(): Promise<string[]> {
  const rows = await app.db.read.selectFrom('recipients').select(['queue', 'tenantId']).execute();
  return rows.map((row) => `${row.tenantId}: ${row.queue}`).sort();
}

test('redirects, refusals and failure reports are scheduled with the tenant of the mailbox, and belong to the installation', async () => {
  world.knobs.result = PASS;
  const redirecting = await world.add('redirect "bob@next.example";');
  await world.receive(redirecting.address);
  assert.equal(await world.run(), 1);
  const redirected = `${INSTALLATION_TENANT}: live transactional ${tenantId} next.example`;
  assert.deepEqual(await queues(), [redirected]);

  const side = openWriting(join(installation.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare("UPDATE recipients SET state = 'bounced', dueAt = NULL").run();
  await makeNotificationsDue(side);
  side.close();
  await runDueTasks(app, createNotificationKind(app));
  const toSender = `${INSTALLATION_TENANT}: live transactional ${tenantId} sender.example`;
  assert.deepEqual(await queues(), [redirected, toSender]);

  // A message that was accepted before the script refuses it is refused by a report.
  const { id, address } = await world.add('keep;');
  await world.receive(address);
  await world.activate(id, 'require "reject"; reject "Not here.";');
  assert.equal(await world.run(), 1);
  assert.deepEqual(await queues(), [redirected, toSender, toSender]);
});
