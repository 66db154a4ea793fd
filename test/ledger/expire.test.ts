/** The ledger of a broadcast is deleted long after its end; its counts stay. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { ledger } from '../../src/ledger/feature.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { insertRow } from '../broadcasts/fixtures.ts';
import { type Campaign, openCampaign } from '../broadcasts/sending/campaign.ts';

const EMAIL_DAYS = 400;
const READERS = 5;
/** More slices than any test needs. */
const MAX_SLICES = 50;
let campaign: Campaign;
let contactIds: string[];

before(async () => {
  campaign = await openCampaign();
  contactIds = [];
  for (let index = 0; index < READERS; index++)
    contactIds.push(await campaign.addContact(`r${index}@readers.example`));
});
after(() => campaign[Symbol.asyncDispose]());

/** Sends a broadcast to its end, with an open of the first reader. Returns it as it is shown then. */
async function ended() {
  const id = await campaign.draft();
  assert.equal((await campaign.act(id, 'send')).status, 200);
  await campaign.work();
  await campaign.spool.deliverDue();
  await campaign.spool.clock.advance(100);
  await campaign.work();
  const [contactId = ''] = contactIds;
  const opened = { openedAt: 1, clickedAt: null, links: '[]' };
  insertRow(campaign.spool, 'broadcastEngagements', { broadcastId: id, contactId, ...opened });
  const shown = await campaign.show(id);
  assert.equal(shown.status, 'sent');
  return shown;
}

/** Runs the step of retention as of `now` to its end, in slices of `rows`. Returns the number of rows deleted. */
async function expire(now: number, rows = 2): Promise<number> {
  const [step] = ledger.retention(campaign.spool.app);
  assert.ok(step);
  let [after, deleted]: [string | undefined, number] = ['', 0];
  for (let slices = 0; after !== undefined; slices++) {
    assert.ok(slices < MAX_SLICES, 'the step does not end');
    const slice = await step.expire(now, { after, rows });
    assert.ok(slice.deleted <= rows);
    [after, deleted] = [slice.next, deleted + slice.deleted];
  }
  return deleted;
}

async function rowsOf(id: string) {
  const database = new Sqlite(join(campaign.spool.dataDir, 'postrider.db'), { readonly: true });
  const count = (table: string) =>
    database.prepare(`SELECT count(*) FROM ${table} WHERE broadcastId = ?`).pluck().get(id);
  try {
    return [count('broadcastRecipients'), count('broadcastEngagements')];
  } finally {
    database.close();
  }
}

function change(sql: string, ...values: (string | number)[]): void {
  const database = new Sqlite(join(campaign.spool.dataDir, 'postrider.db'));
  try {
    assert.ok(database.prepare(sql).run(...values).changes > 0);
  } finally {
    database.close();
  }
}

test('a ledger is deleted 400 days after the end, with its opens, and not one millisecond before', async () => {
  const older = await ended();
  const newer = await ended();
  const at = (shown: { sentAt: string }) => Date.parse(shown.sentAt) + EMAIL_DAYS * DAY_MS;
  assert.equal(await expire(at(older) - 1), 0);
  assert.deepEqual(await rowsOf(older.id), [READERS, 1]);
  assert.equal(await expire(at(older)), READERS);
  assert.deepEqual(await rowsOf(older.id), [0, 0]);
  assert.deepEqual(await rowsOf(newer.id), [READERS, 1], 'a broadcast that ended later is kept');
  assert.deepEqual(await campaign.show(older.id), older, 'the broadcast and its counts stay');
  assert.equal(await expire(at(newer), 500), READERS);
  assert.equal(await expire(at(newer)), 0, 'nothing is left to visit');
});

test('broadcasts that have not ended, held copies and late changes are kept', async () => {
  const running = await campaign.draft();
  await campaign.act(running, 'send');
  await campaign.work();
  await campaign.act(running, 'pause');
  const { id, sentAt } = await ended();
  const now = Date.parse(sentAt) + EMAIL_DAYS * DAY_MS;
  const [held = '', late = ''] = contactIds.slice(1);
  const where = 'WHERE broadcastId = ? AND contactId = ?';
  change(`UPDATE broadcastRecipients SET state = 'queued' ${where}`, id, held);
  change(`UPDATE broadcastRecipients SET changedAt = ? ${where}`, Date.parse(sentAt) + 1, id, late);
  assert.equal(await expire(now), READERS - 2);
  assert.deepEqual(await rowsOf(id), [2, 0]);
  assert.deepEqual(await rowsOf(running), [READERS, 0]);
  assert.equal(await expire(now + 1), 1, 'the late change has its time, too');
  await campaign.act(running, 'cancel');
  await campaign.work();
  assert.equal(await expire(campaign.spool.clock.now() + EMAIL_DAYS * DAY_MS), READERS);
});
