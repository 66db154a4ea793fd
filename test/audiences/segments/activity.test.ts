/** Segments of what contacts did with broadcasts: `delivered`, `opened` and `clicked` (segments/filter.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordActivity } from '../../../src/audiences/contacts/activity-store.ts';
import { deleteContactRow, deleteContactsOf } from '../../../src/audiences/contacts/store.ts';
import { readFilter } from '../../../src/audiences/segments/filter.ts';
import { countIdRange, findIdRange, readSegmentSlice } from '../../../src/audiences/segments/store.ts';
import type { LedgerState } from '../../../src/db/broadcast-tables.ts';
import { countEngagement } from '../../../src/ledger/engagement/store.ts';
import { type Id, newId } from '../../../src/system/ids.ts';
import { explain } from '../../support/explain.ts';
import { openMemoryDatabase } from '../../support/memory-database.ts';

const NOW = Date.parse('2026-06-15T12:00:00.000Z');
const DAY_MS = 86_400_000;
const tenantId = newId('ten', NOW);
const audienceId = newId('aud', NOW);
const [first, second] = [newId('brd', NOW), newId('brd', NOW + 1)];

/** Contacts in a database of their own, and what became of their copies. */
function openWorld(names: readonly string[]) {
  const { database, tx } = openMemoryDatabase();
  database.pragma('foreign_keys = OFF');
  const ids = new Map(names.map((name, index) => [name, newId('ct', NOW + index)]));
  const idOf = (name: string): Id<'ct'> => {
    const id = ids.get(name);
    assert.ok(id);
    return id;
  };
  const contacts = names.map((name) => ({
    ...{ id: idOf(name), tenantId, audienceId, email: name, address: name, firstName: null, lastName: null },
    ...{ unsubscribed: 0 as const, unsubscribedAt: null, createdAt: 0, updatedAt: 0 },
    ...{ topics: '{}', properties: '{}', pending: 0 as const, consent: null },
  }));
  return {
    tx,
    contacts,
    idOf,
    addContacts: () => tx.insertInto('contacts').values(contacts).execute(),
    async addCopy(broadcastId: Id<'brd'>, name: string, state: LedgerState) {
      const row = { broadcastId, contactId: idOf(name), tenantId, address: name, state };
      await tx
        .insertInto('broadcastRecipients')
        .values({ ...row, emailId: null, reason: null, changedAt: NOW, mergeValues: null })
        .execute();
    },
    async find(...rules: object[]): Promise<string[]> {
      const filter = readFilter({ op: 'and', rules });
      const slice = { tenantId, audienceId, filter, now: NOW, after: undefined, scan: 100 };
      const { contacts: found } = await readSegmentSlice.run(tx, { ...slice, limit: 100 });
      const idRange = await findIdRange.run(tx, slice);
      const count = idRange ? (await countIdRange.run(tx, { ...slice, idRange })).count : 0;
      assert.equal(count, found.length);
      return found.map(({ email }) => email);
    },
    close: () => database.close(),
  };
}

const person = { isMachine: false } as const;

test('a segment finds those to whom a broadcast was delivered, and those who opened or clicked it', async () => {
  const world = openWorld(['opened', 'clicked', 'scanned', 'missed', 'bounced', 'other']);
  await world.addContacts();
  const { tx, idOf } = world;
  for (const name of ['opened', 'clicked', 'scanned', 'missed'])
    await world.addCopy(first, name, 'delivered');
  await world.addCopy(first, 'bounced', 'bounced');
  await world.addCopy(second, 'other', 'delivered');
  const copyOf = (name: string) => ({ broadcastId: first, contactId: idOf(name) });
  await countEngagement(tx, copyOf('opened'), { kind: 'open', at: NOW, ...person });
  await countEngagement(tx, copyOf('clicked'), { kind: 'click', link: 0, at: NOW, ...person });
  await countEngagement(tx, copyOf('scanned'), { kind: 'open', at: NOW, isMachine: true });
  await countEngagement(tx, copyOf('scanned'), { kind: 'click', link: 0, at: NOW, isMachine: true });

  const of = (field: string, cmp = 'eq', value: string = first) => ({ field, cmp, value });
  assert.deepEqual(await world.find(of('delivered')), ['opened', 'clicked', 'scanned', 'missed']);
  assert.deepEqual(await world.find(of('delivered', 'ne')), ['bounced', 'other']);
  assert.deepEqual(await world.find(of('opened')), ['opened', 'clicked']);
  assert.deepEqual(await world.find(of('clicked')), ['clicked']);
  assert.deepEqual(await world.find(of('delivered'), of('opened', 'ne')), ['scanned', 'missed']);
  assert.deepEqual(await world.find(of('delivered', 'eq', second)), ['other']);
  assert.deepEqual(await world.find(of('opened', 'eq', newId('brd', NOW))), []);
  world.close();
});

test('within_days tests the latest broadcast that was delivered, opened or clicked', async () => {
  const world = openWorld(['today', 'edge', 'before', 'clicked', 'later', 'never']);
  await world.addContacts();
  const { tx, idOf } = world;
  const edge = NOW - 14 * DAY_MS;
  await recordActivity(tx, idOf('today'), { deliveredAt: NOW, openedAt: NOW });
  await recordActivity(tx, idOf('today'), { deliveredAt: edge - 1, openedAt: edge - 1 });
  await recordActivity(tx, idOf('edge'), { deliveredAt: edge - 1 });
  await recordActivity(tx, idOf('edge'), { deliveredAt: edge, openedAt: edge });
  await recordActivity(tx, idOf('before'), {
    deliveredAt: edge - 1,
    openedAt: edge - 1,
    clickedAt: edge - 1,
  });
  await recordActivity(tx, idOf('clicked'), { clickedAt: NOW });
  await recordActivity(tx, idOf('later'), { openedAt: NOW + 1 });

  const within = (field: string, cmp = 'within_days') => ({ field, cmp, value: 14 });
  assert.deepEqual(await world.find(within('delivered')), ['today', 'edge']);
  assert.deepEqual(await world.find(within('opened')), ['today', 'edge', 'later']);
  assert.deepEqual(await world.find(within('clicked')), ['clicked']);
  assert.deepEqual(await world.find(within('opened', 'not_within_days')), ['before', 'clicked', 'never']);
  world.close();
});

test('the activity of a contact is deleted with it, and a deleted contact gets no new one', async () => {
  const world = openWorld(['one', 'two', 'three']);
  await world.addContacts();
  const { tx, idOf, contacts } = world;
  const left = async () =>
    (await tx.selectFrom('contactActivity').selectAll().execute()).map(({ contactId }) => contactId);
  for (const { id } of contacts) await recordActivity(tx, id, { deliveredAt: NOW });
  assert.equal((await left()).length, 3);
  const [contact] = contacts;
  assert.ok(contact);
  await deleteContactRow(tx, contact);
  assert.deepEqual(await left(), [idOf('two'), idOf('three')]);
  await recordActivity(tx, contact.id, { openedAt: NOW });
  assert.deepEqual(await left(), [idOf('two'), idOf('three')]);
  await deleteContactsOf(tx, audienceId, 1);
  assert.deepEqual(await left(), [idOf('three')]);
  world.close();
});

test('wrong values of the fields are refused', () => {
  const readOne = (rule: object) => () => readFilter({ op: 'and', rules: [rule] });
  assert.throws(readOne({ field: 'opened', cmp: 'eq', value: true }), /`filter\.rules\[0\]\.value`/);
  assert.throws(readOne({ field: 'opened', cmp: 'eq' }), /`filter\.rules\[0\]\.value`/);
  assert.throws(readOne({ field: 'opened', cmp: 'exists' }), /`filter\.rules\[0\]\.cmp`/);
  assert.throws(
    readOne({ field: 'opened', cmp: 'not_within_days', value: 0 }),
    /`filter\.rules\[0\]\.value`/,
  );
  assert.throws(
    readOne({ field: 'createdAt', cmp: 'not_within_days', value: 1 }),
    /`filter\.rules\[0\]\.cmp`/,
  );
});

test('each contact costs one look-up by key', async () => {
  const rules = ['delivered', 'opened', 'clicked'].flatMap((field) => [
    { field, cmp: 'ne', value: first },
    { field, cmp: 'within_days', value: 3 },
  ]);
  const filter = readFilter({ op: 'or', rules });
  const idRange = { oldest: newId('ct', 0), newest: newId('ct', 1), scanned: 10 };
  const plan = await explain((tx) => countIdRange.run(tx, { tenantId, audienceId, filter, now: 0, idRange }));
  const text = plan.join('\n');
  assert.match(
    text,
    /SEARCH entry USING PRIMARY KEY \(broadcastId=\? AND contactId=\?\)|SEARCH entry USING COVERING INDEX broadcastRecipientsByState \(broadcastId=\? AND state=\? AND contactId=\?\)/,
  );
  assert.match(text, /SEARCH engagement USING PRIMARY KEY \(broadcastId=\? AND contactId=\?\)/);
  assert.match(text, /SEARCH activity USING PRIMARY KEY \(audienceId=\? AND contactId=\?\)/);
  assert.doesNotMatch(text, /SCAN|TEMP B-TREE/, text);
});
