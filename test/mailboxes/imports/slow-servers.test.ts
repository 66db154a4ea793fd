/** Turns of imports from servers that answer late. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { watchTurn } from '../../../src/mailboxes/imports/turn-watch.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { createImporter, startScripted } from './fixture.ts';

const clock = createFakeClock(Date.UTC(2026, 0, 1));
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const PIECE_BYTES = 1024 * 1024;

/** Time after which the server answers a FETCH of a piece, below the limit of one exchange. */
const ANSWER_MS = 29_000;

test('a large message that takes more than ten minutes is an error', async (t) => {
  let pieces = 0;
  const port = await startScripted(t, async (command) => {
    if (command.startsWith('EXAMINE'))
      return '* 1 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\nTAG OK [READ-ONLY] done\r\n';
    if (command.startsWith('UID SEARCH')) return '* SEARCH 1\r\nTAG OK done\r\n';
    if (!command.startsWith('UID FETCH')) return undefined;
    if (!command.includes('BODY'))
      return `* 1 FETCH (UID 1 FLAGS () RFC822.SIZE ${60 * PIECE_BYTES})\r\nTAG OK done\r\n`;
    await clock.advance(ANSWER_MS);
    pieces += 1;
    return `* 1 FETCH (UID 1 BODY[] {${PIECE_BYTES}}\r\n${'x'.repeat(PIECE_BYTES)})\r\nTAG OK done\r\n`;
  });
  const { run } = await createImporter(world);
  const { end, errors } = await run(port);
  assert.equal(end.kind, 'paused');
  assert.deepEqual(errors, [{ folder: 'INBOX', uid: 1, message: 'The server is too slow' }]);
  assert.equal(pieces, Math.ceil(600_000 / ANSWER_MS));
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
