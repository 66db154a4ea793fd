/** How SQLite goes about the jobs: by which index, and that it reads none of them whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/db/operation.ts';
import { listErrors } from '../../src/jobs/errors/store.ts';
import { findRunning, getJob } from '../../src/jobs/store.ts';
import { explain } from '../support/explain.ts';

test('a job is found by its id, and its errors by the line they follow', async () => {
  const BY_ID = /USING INDEX sqlite_autoindex_\w+_1 \(id=\?\)/;
  const finds: [find: (tx: Tx) => Promise<unknown>, search: RegExp][] = [
    [
      (tx) =>
        getJob(tx, { tenantId: 'ten_1', domainId: null }, { type: 'import', id: 'imp_1' }).catch(
          () => undefined,
        ),
      BY_ID,
    ],
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
