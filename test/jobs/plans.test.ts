/** How SQLite goes about the jobs: by which index, and that it reads none of them whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/db/operation.ts';
import { listErrors } from '../../src/jobs/errors/store.ts';
import { findRunning, getJob, listJobs } from '../../src/jobs/store.ts';
import { explain } from '../support/explain.ts';

const PAGES = [{}, { startingAfter: 'x_1' }, { endingBefore: 'x_1' }, { from: 'x_1', until: 'x_2' }];

test('a list of jobs by a filter walks an index of what the filter names, and reads past nothing', async () => {
  const byAudience = /USING INDEX jobsByAudience \(tenantId=\? AND type=\? AND kind=\? AND audienceId=\?/;
  for (const page of PAGES) {
    for (const [filter, search] of [
      [{}, /USING INDEX jobsByTenant \(tenantId=\? AND type=\?/],
      [{ status: 'failed' }, /USING INDEX jobsByStatus \(tenantId=\? AND type=\? AND status=\?/],
      [{ kind: 'contacts' }, /USING INDEX jobsByKind \(tenantId=\? AND type=\? AND kind=\?/],
      [{ audienceId: 'aud_1' }, byAudience],
      [{ kind: 'suppressions', audienceId: 'aud_1' }, byAudience],
    ] as const) {
      const list = { type: 'import', limit: 100, ...page, ...filter } as const;
      const plan = await explain((tx) => listJobs(tx, 'ten_1', list));
      assert.equal(plan.length, 1, plan.join('\n'));
      assert.match(plan[0] ?? '', search);
      if (Object.keys(page).length > 0) assert.match(plan[0] ?? '', /id[<>]\?/);
    }
  }
});

test('a job is found by its id, and its errors by the line they follow', async () => {
  const BY_ID = /USING INDEX sqlite_autoindex_\w+_1 \(id=\?\)/;
  const finds: [find: (tx: Tx) => Promise<unknown>, search: RegExp][] = [
    [(tx) => getJob(tx, 'ten_1', { type: 'import', id: 'imp_1' }).catch(() => undefined), BY_ID],
    [(tx) => findRunning(tx, 'imp_1'), BY_ID],
    [
      (tx) => listErrors(tx, { jobId: 'imp_1', afterLine: 1, limit: 10 }),
      /SEARCH jobErrors USING PRIMARY KEY \(jobId=\? AND line>\?\)/,
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
