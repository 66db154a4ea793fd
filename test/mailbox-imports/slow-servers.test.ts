/** Turns of imports from servers that answer late. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { watchTurn } from '../../src/mailbox-imports/turn-watch.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { createImporter, startScripted } from './fixture.ts';

const clock = createFakeClock(Date.UTC(2026, 0, 1));
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const PIECE_BYTES = 1024 * 1024;

/** Time after which the server answers a FETCH of a piece, below the limit of one exchange. */
const ANSWER_MS = 29_000;

/** Starts a server with messages of these sizes, the large ones of which it sends slowly. `pieces` counts what it has sent of those. */
async function startSlow(t: TestContext, sizes: readonly number[]) {
  const sent = { pieces: 0 };
  const uids = sizes.map((_, index) => index + 1);
  const port = await startScripted(t, async (command) => {
    if (command.startsWith('EXAMINE'))
      return `* ${sizes.length} EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\nTAG OK [READ-ONLY] done\r\n`;
    if (command.startsWith('UID SEARCH')) return `* SEARCH ${uids.join(' ')}\r\nTAG OK done\r\n`;
    const [, uid = ''] = /^UID FETCH (\d+)/.exec(command) ?? [];
    if (uid === '') return undefined;
    if (!command.includes('BODY')) {
      const described = uids.map(
        (one) => `* ${one} FETCH (UID ${one} FLAGS () RFC822.SIZE ${sizes[one - 1]})\r\n`,
      );
      return `${described.join('')}TAG OK done\r\n`;
    }
    const size = Math.min(sizes[Number(uid) - 1] ?? 0, PIECE_BYTES);
    if (size === PIECE_BYTES) {
      await clock.advance(ANSWER_MS);
      sent.pieces += 1;
    }
    return `* ${uid} FETCH (UID ${uid} BODY[] {${size}}\r\n${'x'.repeat(size)})\r\nTAG OK done\r\n`;
  });
  return { port, sent };
}

const TOO_SLOW = 60 * PIECE_BYTES;

test('a large message that takes more than ten minutes is an error', async (t) => {
  const { port, sent } = await startSlow(t, [TOO_SLOW]);
  const { run } = await createImporter(world);
  const { end, errors } = await run(port);
  assert.equal(end.kind, 'paused');
  assert.deepEqual(errors, [{ folder: 'INBOX', uid: 1, message: 'The server is too slow' }]);
  assert.equal(sent.pieces, Math.ceil(600_000 / ANSWER_MS));
});

test('messages that take whole turns do not keep those behind them from being imported', async (t) => {
  const { port } = await startSlow(t, [TOO_SLOW, TOO_SLOW, 5]);
  const { run } = await createImporter(world);
  const failed: { folder: string; uid: number }[] = [];
  for (const uid of [1, 2]) {
    const { end, errors, counts } = await run(port, { failed });
    assert.deepEqual([end.kind, errors.map((error) => error.uid), counts.failed], ['paused', [uid], uid]);
    failed.push(...errors);
  }
  const { end, errors, counts } = await run(port, { failed });
  const { messages, imported } = counts;
  assert.deepEqual([end.kind, errors, messages, imported, counts.failed], ['completed', [], 3, 1, 2]);
});

test('what a turn waits for is ended after its maximum time, unless it was stopped', async () => {
  const ended: string[] = [];
  const watch = (name: string) => {
    const onEnd = () => ended.push(name);
    return watchTurn(clock, { progress: { report: async () => {} }, maxMs: 60_000, onEnd });
  };
  const first = watch('first');
  watch('second').stop();
  await clock.advance(59_999);
  assert.deepEqual([first.failure, ended], [undefined, []]);
  await clock.advance(1);
  assert.match(first.failure?.message ?? '', /too slow/);
  assert.deepEqual(ended, ['first']);
  first.stop();
});

test('an import that is deleted while its server is silent ends its turn', async (t) => {
  const asked = Promise.withResolvers<void>();
  const port = await startScripted(t, (command) => {
    if (!command.startsWith('EXAMINE')) return undefined;
    asked.resolve();
    return '';
  });
  const { run, target } = await createImporter(world);
  let isDeleted = false;
  target.advance = async () => !isDeleted;
  const running = run(port);
  await asked.promise;
  isDeleted = true;
  await clock.advance(10_000);
  assert.deepEqual((await running).end, { kind: 'stale' });
});
