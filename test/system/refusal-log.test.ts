import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRefusalLog } from '../../src/system/system.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function world() {
  const clock = createFakeClock(0);
  const lines: unknown[] = [];
  const report = createRefusalLog(clock, { info: (fields: unknown) => void lines.push(fields) });
  return { clock, lines, report };
}

test('a line names a few addresses and how many were refused', () => {
  const { lines, report } = world();
  report('many.example', [
    '10.0.0.1',
    '10.0.0.2',
    '10.0.0.3',
    '10.0.0.4',
    '10.0.0.5',
    '10.0.0.6',
    '10.0.0.7',
  ]);
  const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'];
  assert.deepEqual(lines, [{ host: 'many.example', addresses, refused: 7 }]);
});

test('each host is logged once a minute', async () => {
  const { clock, lines, report } = world();
  for (let count = 0; count < 100; count++) report('one.example', ['10.0.0.1']);
  report('two.example', ['10.0.0.1']);
  assert.equal(lines.length, 2);
  await clock.advance(59_999);
  report('one.example', ['10.0.0.1']);
  assert.equal(lines.length, 2);
  await clock.advance(1);
  report('one.example', ['10.0.0.1']);
  assert.equal(lines.length, 3);
});
