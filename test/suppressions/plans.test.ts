/** How SQLite goes about the list: by which index, and that it never sorts or reads it whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteSuppression, findSuppressed, getSuppression } from '../../src/suppressions/store.ts';
import { newId } from '../../src/system/ids.ts';
import { explain } from '../support/explain.ts';

const BY_EMAIL = /SEARCH suppressions USING INDEX suppressionsByEmail \(tenantId=\? AND email=\?\)/;
const BY_ID = /SEARCH suppressions USING INDEX sqlite_autoindex_suppressions_1 \(id=\?\)/;

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
