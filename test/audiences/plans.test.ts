/** How SQLite goes about what is asked of a million contacts: by which index, and that it never sorts or reads them all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOptedOut, moveChoices } from '../../src/audiences/choices-store.ts';
import { deleteContactsOf, findContact, putContact } from '../../src/audiences/contacts/store.ts';
import { findUnconfirmed } from '../../src/audiences/opt-in/unconfirmed-store.ts';
import type { Filter } from '../../src/audiences/segments/filter.ts';
import { countIdRange, findIdRange, readSegmentSlice } from '../../src/audiences/segments/store.ts';
import { findAudience } from '../../src/audiences/store.ts';
import { newId } from '../../src/system/ids.ts';
import { explain } from '../support/explain.ts';

const [tenantId, audienceId] = ['ten_1', 'aud_1'] as const;

const BY_ADDRESS =
  /SEARCH contacts USING INDEX contactsByAddress \(tenantId=\? AND address=\? AND audienceId=\?\)/;
const id = `ct_${'0'.repeat(26)}` as const;

test('one contact, one audience and a put are each a search', async () => {
  const primary = /SEARCH contacts USING INDEX sqlite_autoindex_contacts_1 \(id=\?\)/;
  assert.match(
    (await explain((tx) => findContact(tx, tenantId, { audienceId, idOrAddress: id }))).join('\n'),
    primary,
  );
  const byAddress = await explain((tx) =>
    findContact(tx, tenantId, { audienceId, idOrAddress: 'a@b.example' }),
  );
  assert.match(byAddress.join('\n'), BY_ADDRESS);
  const audience = (await explain((tx) => findAudience(tx, tenantId, audienceId))).join('\n');
  assert.match(audience, /SEARCH audiences USING INDEX/);
  const put = await explain(async (tx) => {
    const wanted = { id, tenantId, audienceId, email: 'a@b.example', now: 1, topics: {} };
    await putContact(tx, wanted, 'update');
    await putContact(tx, { ...wanted, firstName: 'A' }, 'update');
  });
  const text = put.join('\n');
  assert.match(text, BY_ADDRESS);
  assert.match(text, primary);
  assert.match(text, /SEARCH topics USING COVERING INDEX topicsByTenant \(tenantId=\?\)/);
  assert.match(text, /SEARCH audiences USING INDEX sqlite_autoindex_audiences_1 \(id=\?\)/);
  assert.doesNotMatch(text, /SCAN|TEMP B-TREE/);
});

const BY_CHOICE = 'contactChoices USING PRIMARY KEY (tenantId=? AND address=? AND topicId=? AND optedIn=?';

test('opted-out addresses are found in the choices alone, and contacts are read only for those', async () => {
  const question = { topicId: 'top_1', defaultOptIn: false, addresses: ['a@b.example'] } as const;
  const plan = await explain((tx) => findOptedOut(tx, tenantId, question));
  assert.deepEqual(
    plan.filter((line) => /SEARCH|SCAN (?!CONSTANT)|B-TREE/.test(line)),
    [
      `SEARCH ${BY_CHOICE})`,
      'SEARCH contacts USING INDEX sqlite_autoindex_contacts_1 (id=?) LEFT-JOIN',
      'SEARCH audiences USING INDEX sqlite_autoindex_audiences_1 (id=?) LEFT-JOIN',
    ],
  );
});

test('an address that is not confirmed is found in the pending contacts, and most addresses by that one search', async () => {
  const plan = await explain((tx) => findUnconfirmed(tx, tenantId, ['a@b.example']));
  assert.deepEqual(
    plan.filter((line) => /SEARCH|SCAN (?!CONSTANT)|B-TREE/.test(line)),
    [
      'SEARCH contacts USING INDEX contactsPending (tenantId=? AND address=?)',
      'SEARCH audiences USING INDEX sqlite_autoindex_audiences_1 (id=?)',
    ],
  );
});

test('choices that a contact no longer has are removed row by row', async () => {
  const plan = await explain(async (tx) => {
    const contact = {
      id,
      tenantId,
      address: 'a@b.example',
      unsubscribed: 1,
      topics: '{}',
      pending: 0,
    } as const;
    await moveChoices(tx, contact, undefined);
  });
  const searches = plan.filter((line) => /SEARCH|SCAN (?!json_each)|B-TREE/.test(line));
  assert.deepEqual(searches, [`SEARCH ${BY_CHOICE} AND contactId=?)`]);
});

test('a slice of a deleted audience is found and removed by its index', async () => {
  const plan = await explain(async (tx) => {
    await putContact(tx, { id, tenantId, audienceId, email: 'a@b.example', now: 1 }, 'skip');
    await deleteContactsOf(tx, audienceId, 2);
  });
  const text = plan.join('\n');
  assert.match(text, /SEARCH contacts USING INDEX contactsByAudience \(audienceId=\?\)/);
  assert.match(
    text,
    /SEARCH contacts USING (COVERING )?INDEX contactsByAudience \(audienceId=\? AND id<\?\)/,
  );
  assert.doesNotMatch(text, /SCAN (?!CONSTANT)|TEMP B-TREE/);
});

const FILTERS: Filter[] = [
  { op: 'and', rules: [{ field: 'properties.a', cmp: 'eq', value: 'b' }] },
  { op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] },
  { op: 'and', rules: [{ field: 'createdAt', cmp: 'within_days', value: 3 }] },
  { op: 'or', rules: [{ field: 'email', cmp: 'in', value: ['a@b.example'] }] },
];

test('a slice looks ahead by the index alone, and then at no contact beyond', async () => {
  const slice = { tenantId, audienceId, now: 0, after: newId('ct', 0), scan: 10 };
  const addContact = async (tx: Parameters<Parameters<typeof explain>[0]>[0]) => {
    const id = newId('ct', 1);
    const blank = {
      firstName: null,
      lastName: null,
      unsubscribedAt: null,
      topics: '{}',
      properties: '{}',
      pending: 0 as const,
      consent: null,
    };
    const contact = {
      id,
      tenantId,
      audienceId,
      email: 'a',
      address: 'a',
      unsubscribed: 0 as const,
      ...blank,
    };
    await tx
      .insertInto('contacts')
      .values({ ...contact, createdAt: 0, updatedAt: 0 })
      .execute();
  };
  for (const filter of FILTERS) {
    for (const direction of ['newer', 'older'] as const) {
      const after = newId('ct', direction === 'newer' ? 0 : 2);
      const plan = await explain(async (tx) => {
        await addContact(tx);
        const idRange = await findIdRange.run(tx, slice);
        assert.ok(idRange);
        await countIdRange.run(tx, { ...slice, filter, idRange });
        await readSegmentSlice.run(tx, { ...slice, after, filter, limit: 3, direction });
      });
      const text = plan.join('\n');
      const cursor = direction === 'newer' ? '>' : '<';
      assert.match(
        text,
        /SEARCH contacts USING COVERING INDEX contactsByAudience \(audienceId=\? AND id>\?\)/,
      );
      assert.ok(text.includes(`COVERING INDEX contactsByAudience (audienceId=? AND id${cursor}?)`), text);
      const scans = plan.filter((line) => /^SEARCH contacts USING INDEX/.test(line));
      assert.equal(scans.length, 2, text);
      for (const line of scans)
        assert.match(
          line,
          /INDEX contactsBy\w+ \(audienceId=\? (AND unsubscribed=\? )?AND id>\? AND id<\?\)/,
          text,
        );
      assert.doesNotMatch(text, /TEMP B-TREE FOR ORDER|SCAN contacts|OFFSET/, text);
    }
  }
});
