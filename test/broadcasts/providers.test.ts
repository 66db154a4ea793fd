/** How a broadcast fared with each provider of mailboxes. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { LedgerState } from '../../src/db/broadcast-tables.ts';
import { newId } from '../../src/system/ids.ts';
import { openTestApp } from '../support/test-app.ts';
import { addAudience, broadcastBody, clientOf, insertRow } from './fixtures.ts';

const AT = 1_800_000_000_000;
const world = await openTestApp();
after(() => world.close());
const { ask, created } = clientOf(world);
const id = (await created(broadcastBody(addAudience(world).id))).id;

let added = 0;
function addRow(
  address: string,
  state: LedgerState,
  engagement?: { openedAt: number | null; clickedAt: number },
) {
  const contactId = newId('ct', AT + added++);
  const row = { broadcastId: id, contactId, tenantId: world.tenantId, address, state };
  insertRow(world, 'broadcastRecipients', {
    ...{ ...row, emailId: null, reason: null, changedAt: AT, mergeValues: '{}' },
  });
  if (engagement)
    insertRow(world, 'broadcastEngagements', { broadcastId: id, contactId, links: '[]', ...engagement });
}

type Provider = { provider: string; recipients: number } & Record<string, number>;

test('each contact counts once, at the provider of its domain, also beyond one slice of the ledger', async () => {
  addRow('ada@gmail.com', 'delivered', { openedAt: null, clickedAt: AT });
  addRow('bob@gmail.com', 'bounced');
  addRow('"a@gmail.com"@corp.example', 'delivered', { openedAt: AT, clickedAt: AT });
  for (let count = 0; count < 2_000; count++) addRow(`reader${count}@corp.example`, 'waiting');
  const { status, body } = await ask('GET', `/broadcasts/${id}/providers`);
  assert.equal(status, 200, JSON.stringify(body));
  const of = (name: string) => body.data.find(({ provider }: Provider) => provider === name);
  const { recipients, delivered, bounced, opened, clicked } = of('gmail');
  assert.deepEqual([recipients, delivered, bounced, opened, clicked], [2, 1, 1, 1, 1]);
  assert.deepEqual([of('other').recipients, of('other').waiting, of('other').opened], [2_001, 2_000, 1]);
  assert.deepEqual([of('yahoo').recipients, body.hasMore], [0, false]);
});

test('the broadcast of another tenant is not found', async () => {
  const stranger = await world.addTenant('stranger');
  const { status } = await world.request('GET', `/v1/broadcasts/${id}/providers`, { key: stranger.testKey });
  assert.equal(status, 404);
});
