import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLog, writtenByTurn } from '../../src/system/log.ts';

test('the lines of a turn are written together, after what is sent at the end of the turn', async () => {
  const written: string[] = [];
  const log = createLog('info', writtenByTurn({ write: (text) => void written.push(text) }));
  log.info('first');
  setImmediate(() => written.push('a reply'));
  log.info('second');
  assert.equal(written.length, 0);
  await nextTurn();
  assert.equal(written.join(), 'a reply');
  await nextTurn();
  const lines = written[1]?.trimEnd().split('\n') ?? [];
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['first', 'second'],
  );
});

test('many lines are not held, and those that are left are written at the end of the process', () => {
  const written: string[] = [];
  const destination = writtenByTurn({ write: (text) => void written.push(text) });
  destination.write('x'.repeat(40_000));
  assert.equal(written.length, 0);
  destination.write('y'.repeat(40_000));
  assert.equal(written.join('').length, 80_000);
  destination.write('last');
  const [writeRest] = process.listeners('exit').slice(-1);
  writeRest?.call(process, 0);
  assert.equal(written.at(-1), 'last');
});
