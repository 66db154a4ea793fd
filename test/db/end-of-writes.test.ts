import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeTally } from '../../src/counts/store.ts';
import { Tally } from '../../src/counts/tally.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import { defineWrite, type Write } from '../../src/db/operation.ts';
import { createGroupCommit } from '../../src/db/write-group.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

const mail = {
  tenantId: 'ten_a',
  mode: 'live',
  kind: 'transactional',
  domainId: null,
  broadcastId: null,
} as const;

const countOne = defineWrite('test.countOne', async (tx, isRefused: boolean) => {
  const tally = new Tally();
  tally.count(mail, { to: 'ann@example.test', at: 0, counters: ['accepted', 'delivered'] });
  await storeTally(tx, tally);
  if (isRefused) throw new Error('refused');
});

function open() {
  const { database } = openMemoryDatabase();
  const changes = { statements: 0 };
  const prepare = database.prepare.bind(database);
  Object.assign(database, {
    prepare(sql: string) {
      const statement = prepare(sql);
      if (!sql.startsWith('insert into "counts"')) return statement;
      const run = statement.run.bind(statement);
      return Object.assign(statement, {
        run(...values: unknown[]) {
          changes.statements++;
          return run(...values);
        },
      });
    },
  });
  const commit = createGroupCommit(database, kyselyOn<unknown>(database), {
    reach: () => {},
    clock: { elapsed: () => 0 },
  });
  const request = (write: Write<boolean, void>, id: number, input: boolean) => ({
    id,
    operation: write.name,
    input,
    sizeBytes: 0,
  });
  return {
    changes,
    commit: (...inputs: boolean[]) => commit(inputs.map((input, id) => request(countOne, id, input))),
    counted: () => database.prepare("SELECT accepted FROM counts WHERE span = 'hour'").pluck().get(),
  };
}

test('the writes of one transaction change each counter once', async () => {
  const { commit, counted, changes } = open();
  await commit(false, false, false);
  assert.equal(counted(), 3);
  assert.equal(changes.statements, 2);
  await commit(false);
  assert.equal(counted(), 4, 'a transaction begins without the counts of the one before');
});

test('a write that is refused leaves nothing in the counters that others share', async () => {
  const { commit, counted } = open();
  const answers = await commit(false, true, false);
  assert.deepEqual(
    answers.map((answer) => 'error' in answer),
    [false, true, false],
  );
  assert.equal(counted(), 2);
});
