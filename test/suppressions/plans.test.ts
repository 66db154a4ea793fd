/** How SQLite goes about the list: by which index, and that it never sorts or reads it whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deleteSuppression,
  findSuppressed,
  getSuppression,
  listSuppressions,
  type SuppressionFilter,
} from '../../src/suppressions/store.ts';
import { newId } from '../../src/system/ids.ts';
import { explain } from '../support/explain.ts';

const BY_TENANT = /SEARCH suppressions USING INDEX suppressionsByTenant \(tenantId=\?/;
const BY_REASON = /SEARCH suppressions USING INDEX suppressionsByReason \(tenantId=\? AND reason=\?/;
const BY_EMAIL = /SEARCH suppressions USING INDEX suppressionsByEmail \(tenantId=\? AND email=\?\)/;
const BY_ID = /SEARCH suppressions USING INDEX sqlite_autoindex_suppressions_1 \(id=\?\)/;

const LISTS: readonly [filter: SuppressionFilter, walk: RegExp][] = [
  [{}, BY_TENANT],
  [{ reason: 'bounce' }, BY_REASON],
  [{ email: 'a@b.example' }, BY_EMAIL],
  [{ email: 'a@b.example', reason: 'bounce' }, BY_EMAIL],
];
const PAGES = [
  {},
  { startingAfter: 'sup_1' },
  { endingBefore: 'sup_1' },
  { from: 'sup_1', until: 'sup_2' },
  { from: 'sup_1', until: 'sup_2', startingAfter: 'sup_1' },
];

for (const [filter, walk] of LISTS) {
  test(`a list by ${Object.keys(filter).join(' and ') || 'nothing'} walks its index`, async () => {
    for (const page of PAGES) {
      const plan = await explain((tx) => listSuppressions(tx, 'ten_1', { ...filter, limit: 100, ...page }));
      assert.equal(plan.length, 1, plan.join('\n'));
      assert.match(plan[0] ?? '', walk);
      // The range of ids is part of the search where the index goes on with the id.
      if (walk !== BY_EMAIL && Object.keys(page).length > 0) assert.match(plan[0] ?? '', /id[<>]\?/);
    }
  });
}

test('a suppression is found by its id alone or its address alone', async () => {
  const id = newId('sup', 0);
  for (const [key, search] of [
    [id, BY_ID],
    ['a@b.example', BY_EMAIL],
  ] as const) {
    for (const find of [getSuppression, deleteSuppression]) {
      const plan = await explain((tx) => find(tx, 'ten_1', key).catch(() => undefined));
      assert.match(plan[0] ?? '', search);
    }
  }
  assert.match((await explain((tx) => findSuppressed(tx, 'ten_1', ['a@b.example'])))[0] ?? '', BY_EMAIL);
});
