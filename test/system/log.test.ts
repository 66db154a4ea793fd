import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLog, writtenTogether } from '../../src/system/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** Returns the messages of the lines that were written at one time. */
function messagesOf(written: string): string[] {
  const lines = written.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line).msg);
}

test('lines of a turn are written together, after what is sent at its end, and those that follow every 10 ms', async () => {
  const clock = createFakeClock(0);
  const written: string[] = [];
  const log = createLog('info', writtenTogether({ write: (text) => void written.push(text) }, clock));
  log.info('first');
  setImmediate(() => written.push('a reply'));
  log.info('second');
  assert.equal(written.length, 0);
  await nextTurn();
  assert.equal(written.join(), 'a reply');
  await nextTurn();
  assert.deepEqual(written.slice(1).map(messagesOf), [['first', 'second']]);

  log.info('third');
  await nextTurn();
  log.info('fourth');
  await nextTurn();
  await nextTurn();
  assert.equal(written.length, 2);
  await clock.advance(10);
  assert.deepEqual(written.slice(2).map(messagesOf), [['third', 'fourth']]);

  await clock.advance(10);
  log.info('fifth');
  await nextTurn();
  await nextTurn();
  assert.deepEqual(written.slice(3).map(messagesOf), [['fifth']], 'after a pause, a line does not wait');
});

test('many lines are not held, and those that are left are written at the end of the process', () => {
  const written: string[] = [];
  const clock = createFakeClock(0);
  const destination = writtenTogether({ write: (text) => void written.push(text) }, clock);
  const exits = process.listenerCount('exit');
  destination.write('x'.repeat(40_000));
  assert.equal(written.length, 0);
  destination.write('y'.repeat(40_000));
  assert.equal(written.join('').length, 80_000);
  assert.equal(process.listenerCount('exit'), exits);
  destination.write('last');
  const [writeRest] = process.listeners('exit').slice(-1);
  writeRest?.call(process, 0);
  assert.equal(written.at(-1), 'last');
});
