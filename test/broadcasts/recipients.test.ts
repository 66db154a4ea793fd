/** What became of each contact of a broadcast: the list and the file. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listRecipients } from '../../src/broadcasts/recipients/store.ts';
import type { LedgerState } from '../../src/db/broadcast-tables.ts';
import { isoTime } from '../../src/system/clock.ts';
import { newId } from '../../src/system/ids.ts';
import { exportCsv } from '../imports/jobs.ts';
import { explain } from '../support/explain.ts';
import { openTestApp } from '../support/test-app.ts';
import { addAudience, broadcastBody, clientOf, insertRow } from './fixtures.ts';

const AT = 1_800_000_000_000;
const world = await openTestApp();
const id = (await clientOf(world).created(broadcastBody(addAudience(world).id))).id;
after(() => world.close());

let added = 0;

/** Puts a contact into the ledger and returns its id. */
function addRow(broadcastId: string, state: LedgerState, more: object = {}): string {
  const contactId = newId('ct', AT + added++);
  const row = { broadcastId, contactId, tenantId: world.tenantId, address: `${added}@a.example`, state };
  const rest = { emailId: null, reason: null, changedAt: AT, mergeValues: '{}' };
  insertRow(world, 'broadcastRecipients', { ...row, ...rest, ...more });
  return contactId;
}

test('the list has every contact, those that were created last first, and can be limited to a status', async () => {
  const { ask } = clientOf(world);
  const empty = await ask('GET', `/broadcasts/${id}/recipients`);
  assert.deepEqual(empty.body, { data: [], hasMore: false, nextCursor: null });
  const emailId = newId('em', AT);
  const delivered = addRow(id, 'delivered', { emailId, address: 'ada@a.example', changedAt: AT + 5 });
  const bounced = addRow(id, 'bounced', { emailId: newId('em', AT + 1), reason: '550 no such user' });
  const waiting = addRow(id, 'waiting');
  insertRow(world, 'broadcastEngagements', {
    ...{ broadcastId: id, contactId: delivered, openedAt: AT + 60_000, clickedAt: null, links: '[]' },
  });
  const other = (await clientOf(world).created(broadcastBody(addAudience(world).id))).id;
  addRow(other, 'delivered');

  const all = await ask('GET', `/broadcasts/${id}/recipients`);
  assert.deepEqual(
    all.body.data.map(({ contactId, status }: { contactId: string; status: string }) => [contactId, status]),
    [
      [waiting, 'waiting'],
      [bounced, 'bounced'],
      [delivered, 'delivered'],
    ],
  );
  assert.deepEqual(all.body.data[2], {
    ...{ contactId: delivered, email: 'ada@a.example', status: 'delivered', emailId, reason: null },
    ...{ changedAt: isoTime(AT + 5), openedAt: isoTime(AT + 60_000), clickedAt: null },
  });
  const some = await ask('GET', `/broadcasts/${id}/recipients?status=bounced`);
  assert.deepEqual(
    some.body.data.map(({ contactId, reason }: { contactId: string; reason: string }) => [contactId, reason]),
    [[bounced, '550 no such user']],
  );
  const page = await ask('GET', `/broadcasts/${id}/recipients?limit=2`);
  assert.deepEqual([page.body.hasMore, page.body.nextCursor, page.body.data.length], [true, bounced, 2]);
  const next = await ask('GET', `/broadcasts/${id}/recipients?limit=2&startingAfter=${bounced}`);
  assert.deepEqual([next.body.hasMore, next.body.data[0].contactId], [false, delivered]);
  const back = await ask('GET', `/broadcasts/${id}/recipients?limit=1&endingBefore=${bounced}`);
  assert.equal(back.body.data[0].contactId, waiting);
});

test('bad input, other tenants and the other mode are refused', async () => {
  const { ask } = clientOf(world);
  for (const query of ['status=sent', 'status=', 'startingAfter=em_1', 'limit=0', 'limit=101'])
    assert.equal((await ask('GET', `/broadcasts/${id}/recipients?${query}`)).status, 400, query);
  assert.equal((await ask('POST', `/broadcasts/${id}/recipients/exports`, { status: 'sent' })).status, 400);
  const theirs = (await world.addTenant('other')).testKey;
  const live = world.liveKey;
  for (const key of [theirs, live]) {
    assert.equal((await ask('GET', `/broadcasts/${id}/recipients`, undefined, key)).status, 404);
    assert.equal((await ask('POST', `/broadcasts/${id}/recipients/exports`, {}, key)).status, 404);
  }
});

test('the file has a line for each contact, also when it takes several slices', async () => {
  const { id: large } = await clientOf(world).created(broadcastBody(addAudience(world).id));
  const first = addRow(large, 'bounced', { reason: '=cmd()', address: 'bad@a.example' });
  for (let index = 0; index < 1_000; index++) addRow(large, 'delivered');
  const { job, file } = await exportCsv(world, `/v1/broadcasts/${large}/recipients/exports`);
  assert.deepEqual(
    [job.kind, job.status, job.rows, job.audienceId],
    ['recipients', 'completed', 1_001, null],
  );
  const lines = file.trimEnd().split('\r\n');
  assert.equal(lines.length, 1_002);
  assert.equal(lines[0], 'email,status,reason,changedAt,openedAt,clickedAt,contactId,emailId');
  assert.equal(lines.at(-1), `bad@a.example,bounced,'=cmd(),${isoTime(AT)},,,${first},`);
  const some = await exportCsv(world, `/v1/broadcasts/${large}/recipients/exports`, { status: 'bounced' });
  assert.equal(some.job.rows, 1);
});

test('a page is a range of an index, whatever the size of the broadcast', async () => {
  const broadcastId = newId('brd', 0);
  for (const status of [undefined, 'bounced'] as const) {
    const page = { limit: 20, startingAfter: newId('ct', 1), ...(status !== undefined && { status }) };
    const text = (await explain((tx) => listRecipients(tx, broadcastId, page))).join('\n');
    const range =
      status === undefined ? 'PRIMARY KEY (broadcastId=? AND contactId<?)' : 'broadcastRecipientsByState';
    assert.ok(text.includes(`SEARCH entry USING ${status === undefined ? '' : 'INDEX '}${range}`), text);
    assert.match(text, /SEARCH engagement USING PRIMARY KEY \(broadcastId=\? AND contactId=\?\)/);
    assert.doesNotMatch(text, /SCAN|TEMP B-TREE/, text);
  }
});
