/** The list of what waits is read page by page, each of which begins in an index behind the page before. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { cursorOf, type Position, readCursor } from '../../../src/queue/control/list-position.ts';
import { listOpen, type OpenState } from '../../../src/queue/control/list-store.ts';
import { EVERYTHING, type Selection } from '../../../src/queue/control/selection.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { explain } from '../../support/explain.ts';
import { openSpool } from '../../support/spool.ts';

const closing = closeAfterTests();
const spool = closing(await openSpool());
const emails = [...(await spool.acceptMany(7, 'one.example')), ...(await spool.acceptMany(6, 'two.example'))];
// One is being sent, two have no time, as recipients of a paused broadcast, and some are held.
const side = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
const set = side.prepare('UPDATE recipients SET state = ?, dueAt = ?, runId = ? WHERE messageId = ?');
const now = spool.clock.now();
emails.forEach((id, index) => {
  if (index === 0) set.run('in_flight', now, 'a run', id);
  else if (index % 5 === 1) set.run('held', null, null, id);
  else if (index % 6 === 2) set.run('ready', null, null, id);
  else set.run('deferred', now + (index % 2), null, id);
});
side.close();

/** Returns the emails of all pages of a list, each of which has at most `limit` recipients. */
async function pages(
  selection: Partial<Selection>,
  state: OpenState | null,
  limit: number,
): Promise<string[]> {
  const found: string[] = [];
  let after: Position | undefined;
  for (let count = 0; count < 50; count++) {
    const query = { ...EVERYTHING, ...selection, state, limit, after };
    const { recipients, next } = await listOpen.run(spool.app.db.read, query);
    assert.ok(recipients.length <= limit);
    found.push(...recipients.map(({ messageId }) => messageId));
    if (!next) return found;
    after = readCursor(cursorOf(next));
  }
  throw new Error('the list does not end');
}

test('pages together have every recipient once, whatever selects them and however small the pages are', async () => {
  for (const selection of [
    {},
    { domain: 'one.example' },
    { tenantId: spool.tenantId },
    { kind: 'transactional' },
    { kind: 'broadcast' },
  ] as const)
    for (const state of [null, 'ready', 'deferred', 'held', 'in_flight'] as const) {
      const whole = await pages(selection, state, 100);
      for (const limit of [1, 2, 5])
        assert.deepEqual(
          await pages(selection, state, limit),
          whole,
          `${JSON.stringify(selection)} ${state} ${limit}`,
        );
      assert.equal(new Set(whole).size, whole.length);
    }
  assert.equal((await pages({ tenantId: spool.tenantId }, null, 3)).length, emails.length);
});

test('a cursor that is none is refused', () => {
  const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  for (const wrong of [
    '',
    'x',
    cursor('due'),
    cursor('constructor', ''),
    cursor('due', '', 1),
    cursor('held', ''),
  ])
    assert.throws(() => readCursor(wrong), { code: 'validation_error' }, wrong);
  assert.throws(() => readCursor(cursor('due', '', {}, [], null)), { code: 'validation_error' });
});

test('a page begins in an index and sorts nothing', async () => {
  const queue = `live transactional ${spool.tenantId} one.example`;
  const all = { ...EVERYTHING, limit: 10 };
  const positions: Position[] = [
    { name: 'inFlight', queue: '', key: ['a run', 1, 1] },
    { name: 'due', queue: '', key: [1, queue, 1] },
    { name: 'allHeld', queue: '', key: [queue, 'em_1', 1] },
  ];
  for (const after of positions) {
    const plan = await explain((tx) => listOpen.run(tx, { ...all, state: null, after }));
    assert.doesNotMatch(plan.join('\n'), /TEMP B-TREE|SCAN recipients(?! USING)/, plan.join('\n'));
  }
  const due = await explain((tx) => listOpen.run(tx, { ...all, state: 'ready', after: positions[1] }));
  assert.match(due.join('\n'), /SEARCH recipients USING INDEX recipientsDue \(\(?dueAt/);
});
