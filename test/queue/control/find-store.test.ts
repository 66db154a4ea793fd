/** Actions go through a queue once, however few of its recipients they name. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { createAction } from '../../../src/queue/control/act.ts';
import { countNamed, isWaitingCursor, listWaitingMessages } from '../../../src/queue/control/find-store.ts';
import { EVERYTHING } from '../../../src/queue/control/selection.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { explain } from '../../support/explain.ts';
import { openSpool } from '../../support/spool.ts';

const closing = closeAfterTests();
const spool = closing(await openSpool());
const { db } = spool.app;

test('each waiting recipient is visited once, those without a time and those that are due at the same time too', async () => {
  const emails = await spool.acceptMany(9, 'rcpt.example');
  // Some have no time, as recipients of a paused broadcast, and two have another time.
  const side = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  const set = side.prepare('UPDATE recipients SET dueAt = ? WHERE messageId = ?');
  for (const [index, id] of emails.entries()) {
    if (index % 2 === 0) set.run(null, id);
    if (index % 5 === 1) set.run(spool.clock.now() + index, id);
  }
  side.close();
  const queue = `live transactional ${spool.tenantId} rcpt.example`;
  const selection = { ...EVERYTHING, class: 'network' };
  const about = { verb: 'hold', reason: null, target: null, matched: 0, now: spool.clock.now() } as const;
  const action = await db.commit(createAction, { ...about, selection });
  const walk = async (named: typeof action, limit: number, examined: number) => {
    const visited: string[] = [];
    let slices = 0;
    for (let after: string | undefined = ''; after !== undefined; slices++) {
      assert.ok(slices < 50, 'the walk does not end');
      assert.ok(after === '' || isWaitingCursor(after), after);
      const found: Awaited<ReturnType<typeof listWaitingMessages>> = await listWaitingMessages(
        db.read,
        named,
        {
          queue,
          limit,
          after,
          examined,
        },
      );
      visited.push(...found.messageIds);
      after = found.next;
    }
    return { visited, slices };
  };
  const everything = { ...action, class: null };
  const all = emails.toSorted();
  for (const [limit, examined] of [
    [2, 100],
    [100, 2],
    [3, 3],
    [100, 100],
  ] as const) {
    const { visited } = await walk(everything, limit, examined);
    assert.deepEqual(visited.toSorted(), all, `${limit} of ${examined}`);
  }
  const { visited, slices } = await walk(action, 100, 4);
  assert.deepEqual(visited, [], 'none has the class');
  assert.equal(slices, 3, 'each slice begins where the last one ended');
});

test('a slice seeks its place in the index, and sorts nothing', async () => {
  const action = {
    ...EVERYTHING,
    class: 'greylist',
    verb: 'fail',
    createdAt: 0,
  } as const;
  const slice = { queue: 'q', limit: 5, after: 'due 5 deferred rcp_1' };
  const plan = await explain((tx) => listWaitingMessages(tx, action, slice));
  assert.ok(
    plan.some((line) =>
      /^SEARCH recipients USING (COVERING )?INDEX recipientsDueByLane \(queue=\? AND \(dueAt,state\)>\(\?,\?\)\)$/.test(
        line,
      ),
    ),
    plan.join('\n'),
  );
  assert.ok(!plan.some((line) => /USE TEMP B-TREE|^SCAN recipients/.test(line)), plan.join('\n'));
});

test('a count with a maximum ends one behind it, over all queues and states', async () => {
  await spool.acceptMany(3, 'counted.example');
  await spool.acceptMany(2, 'also-counted.example');
  const action = {
    ...EVERYTHING,
    kind: 'transactional',
    verb: 'hold',
    createdAt: spool.clock.now(),
  } as const;
  const all = await db.query(countNamed, action);
  assert.ok(all >= 5);
  for (const maximum of [1, 2, 3, 4])
    assert.equal(await db.query(countNamed, { ...action, maximum }), maximum + 1);
  assert.equal(await db.query(countNamed, { ...action, maximum: all }), all);
});
