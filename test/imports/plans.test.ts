/** How SQLite goes about the jobs: by which index, and that it reads none of them whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/db/operation.ts';
import { getExport, listExports } from '../../src/exports/store.ts';
import { findRunning, getImport, listErrors, listImports } from '../../src/imports/store.ts';
import { explain } from '../support/explain.ts';

const PAGES = [{}, { startingAfter: 'x_1' }, { endingBefore: 'x_1' }, { from: 'x_1', until: 'x_2' }];

const LISTS = [
  ['imports', listImports],
  ['exports', listExports],
] as const;

for (const [table, list] of LISTS) {
  test(`a list of ${table} walks its index`, async () => {
    for (const page of PAGES) {
      const plan = await explain((tx) => list(tx, 'ten_1', { limit: 100, ...page }));
      assert.equal(plan.length, 1, plan.join('\n'));
      assert.match(plan[0] ?? '', new RegExp(`SEARCH ${table} USING INDEX ${table}ByTenant \\(tenantId=\\?`));
      if (Object.keys(page).length > 0) assert.match(plan[0] ?? '', /id[<>]\?/);
    }
  });
}

test('a list of imports by a filter walks an index of what the filter names, and reads past nothing', async () => {
  const byKind = /USING INDEX importsByKind \(tenantId=\? AND kind=\?/;
  const byStatus = /USING INDEX importsByStatus \(tenantId=\? AND status=\?/;
  const byAudience = /USING INDEX importsByAudience \(tenantId=\? AND kind=\? AND audienceId=\?/;
  for (const page of PAGES) {
    for (const [filter, search] of [
      [{ status: 'failed' }, byStatus],
      [{ kind: 'contacts' }, byKind],
      [{ audienceId: 'aud_1' }, byAudience],
      [{ kind: 'suppressions', audienceId: 'aud_1' }, byAudience],
    ] as const) {
      const plan = await explain((tx) => listImports(tx, 'ten_1', { limit: 100, ...page, ...filter }));
      assert.equal(plan.length, 1, plan.join('\n'));
      assert.match(plan[0] ?? '', search);
      if (Object.keys(page).length > 0) assert.match(plan[0] ?? '', /id[<>]\?/);
    }
  }
});

test('one is found by its id, and errors by the line they follow', async () => {
  const BY_ID = /USING INDEX sqlite_autoindex_\w+_1 \(id=\?\)/;
  const finds: [find: (tx: Tx) => Promise<unknown>, search: RegExp][] = [
    [(tx) => getImport(tx, 'ten_1', 'imp_1').catch(() => undefined), BY_ID],
    [(tx) => getExport(tx, 'ten_1', 'exp_1').catch(() => undefined), BY_ID],
    [(tx) => findRunning(tx, 'imp_1'), BY_ID],
    [
      (tx) => listErrors(tx, 'imp_1', { afterLine: 1, limit: 10 }),
      /SEARCH importErrors USING PRIMARY KEY \(importId=\? AND line>\?\)/,
    ],
  ];
  for (const [find, search] of finds) {
    const plan = await explain(find);
    assert.ok(
      plan.some((line) => search.test(line)),
      plan.join('\n'),
    );
    assert.ok(
      plan.every((line) => !/TEMP B-TREE/.test(line)),
      plan.join('\n'),
    );
  }
});
