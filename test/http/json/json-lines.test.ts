import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createJsonLines } from '../../../src/http/json/json-lines.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

test('lines are sent as they come, with empty ones while nothing happens, until they end', async () => {
  const clock = createFakeClock(0);
  let ends = 0;
  const lines = createJsonLines(clock, () => ends++);
  lines.send({ a: 'x\ny' });
  await clock.advance(10_000);
  lines.send({ b: 1 });
  lines.end();
  lines.send({ c: 1 });
  lines.end();
  await clock.advance(60_000);
  assert.equal(await text(lines.stream), '\n{"a":"x\\ny"}\n\n{"b":1}\n');
  assert.equal(ends, 1);
});

test('a reader that does not keep up is ended, and costs a bounded amount of memory', async () => {
  let ends = 0;
  const lines = createJsonLines(createFakeClock(0), () => ends++);
  const value = { text: 'x'.repeat(1_000) };
  for (let count = 0; count < 10_000; count++) lines.send(value);
  assert.equal(ends, 1);
  assert.ok(lines.stream.readableLength < 260 * 1024, `${lines.stream.readableLength} bytes`);
  assert.match(await text(lines.stream), /\n\{"kind":"dropped"\}\n$/);
});

test('a reader that goes away ends the lines', async () => {
  let ends = 0;
  const lines = createJsonLines(createFakeClock(0), () => ends++);
  lines.stream.destroy();
  await new Promise((resolve) => lines.stream.once('close', resolve));
  lines.send({ a: 1 });
  assert.equal(ends, 1);
});
