/** How SQLite goes about what is asked of a million contacts: by which index, and that it never sorts or reads them all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOptedOut, moveChoices } from '../../src/audiences/contacts/choices/store.ts';
import {
  type ContactFilter,
  deleteContactsOf,
  findContact,
  listContacts,
  putContact,
} from '../../src/audiences/contacts/store.ts';
import { findAudience } from '../../src/audiences/store.ts';
import type { PageRequest } from '../../src/db/page.ts';
import { explain } from '../support/explain.ts';

const [tenantId, audienceId] = ['ten_1', 'aud_1'] as const;
const CURSORS: Omit<PageRequest, 'limit'>[] = [
  {},
  { startingAfter: 'ct_2' },
  { endingBefore: 'ct_2' },
  { startingAfter: 'ct_2', from: 'ct_1' },
  { endingBefore: 'ct_2', from: 'ct_1', until: 'ct_3' },
  { until: 'ct_3' },
];

const BY_ADDRESS =
  /SEARCH contacts USING INDEX contactsByAddress \(tenantId=\? AND address=\? AND audienceId=\?\)/;
const LISTS: readonly [name: string, filter: ContactFilter, walk: RegExp][] = [
  ['all', {}, /SEARCH contacts USING INDEX contactsByAudience \(audienceId=\?/],
  [
    'the unsubscribed',
    { unsubscribed: true },
    /SEARCH contacts USING INDEX contactsByUnsubscribed \(audienceId=\? AND unsubscribed=\?/,
  ],
  ['one address', { address: 'a@b.example' }, BY_ADDRESS],
  ['one address, unsubscribed', { address: 'a@b.example', unsubscribed: false }, BY_ADDRESS],
];

for (const [name, filter, walk] of LISTS) {
  test(`a list of ${name} walks its index, at any cursor and in any time`, async () => {
    for (const cursor of CURSORS) {
      const plan = await explain((tx) =>
        listContacts(tx, tenantId, { audienceId, limit: 100, ...cursor, ...filter }),
      );
      const text = plan.join('\n');
      assert.match(text, walk);
      const isBounded = Object.keys(cursor).length > 0 && filter.address === undefined;
      if (isBounded) assert.match(text, / AND id[<>]/);
      assert.doesNotMatch(text, /SCAN/);
      // The one row there may be of an address is no work to sort.
      if (filter.address === undefined) assert.doesNotMatch(text, /TEMP B-TREE/);
    }
  });
}

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
      'SEARCH contacts USING INDEX sqlite_autoindex_contacts_1 (id=?)',
      'SEARCH audiences USING INDEX sqlite_autoindex_audiences_1 (id=?)',
    ],
  );
});

test('choices that a contact no longer has are removed row by row', async () => {
  const plan = await explain(async (tx) => {
    const contact = { id, tenantId, address: 'a@b.example', unsubscribed: 1, topics: '{}' } as const;
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
