import assert from 'node:assert/strict';
import { createHash, Hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBodyHash } from '../../../src/mail/dkim/body-hash.ts';

/** RFC 6376 section 3.4.4, in its own words. */
function reference(body: string): string {
  let reduced = body
    .split('\r\n')
    .map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
    .join('\r\n');
  while (reduced.endsWith('\r\n')) reduced = reduced.slice(0, -2);
  return createHash('sha256')
    .update(reduced === '' ? '' : `${reduced}\r\n`, 'latin1')
    .digest('base64');
}

function hashOf(chunks: readonly Uint8Array[]): string {
  const hash = createBodyHash();
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest();
}

/** `body` cut at the given places. */
function cut(body: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(body, 'latin1');
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const places = fc.array(fc.nat(), { maxLength: 6 });

test('the hash is the one of RFC 6376 3.4.4, wherever the body is cut', () => {
  const pieces = fc.array(fc.constantFrom('a', ' ', '\t', '\r\n', '\r', '\n', '\0', 'é'), { maxLength: 30 });
  fc.assert(
    fc.property(pieces, places, (parts, at) => {
      const body = parts.join('');
      assert.equal(hashOf(cut(body, at)), reference(body), JSON.stringify(body));
    }),
    { numRuns: 500 },
  );
});

test('long stretches of any kind are hashed as short ones are', () => {
  const counts = fc.constantFrom(1, 2, 9, 511, 512, 2_047, 2_048, 2_049, 4_096, 5_000, 8_192);
  const stretch = fc
    .tuple(fc.constantFrom('a', 'b c', ' ', '\t', '\r\n', ' \r\n', '\r', '\n', 'x\r\n'), counts)
    .map(([unit, count]) => unit.repeat(count));
  fc.assert(
    fc.property(fc.array(stretch, { minLength: 1, maxLength: 5 }), places, (parts, at) => {
      const body = parts.join('');
      assert.equal(hashOf(cut(body, at)), reference(body));
    }),
    { numRuns: 100 },
  );
});

test('empty lines are held back and let out rightly, however many they are', () => {
  for (const count of [1, 8, 9, 2_047, 2_048, 2_049, 4_096, 6_143, 10_000]) {
    const empty = '\r\n'.repeat(count);
    for (const before of ['', 'a', 'a \r\n']) {
      for (const after of ['', 'a', 'a'.repeat(600), ' a', ' ', '\r', '\r\n', `b${empty}`, `b${empty}c`]) {
        const chunks = [before, empty, after];
        assert.equal(
          hashOf(chunks.map((chunk) => Buffer.from(chunk))),
          reference(chunks.join('')),
          `${count}`,
        );
        assert.equal(hashOf([Buffer.from(chunks.join(''))]), reference(chunks.join('')), `${count}`);
      }
    }
  }
});

test('no byte costs more than those around it: a million empty lines are not hashed at once', (t) => {
  const update = t.mock.method(Hash.prototype, 'update');
  const hash = createBodyHash();
  for (let chunk = 0; chunk < 100; chunk++) hash.update(Buffer.from('\r\n'.repeat(10_000)));
  update.mock.resetCalls();
  hash.update(Buffer.from('x'));
  const hashed = update.mock.calls.reduce(
    (sum, call) => sum + Buffer.byteLength(call.arguments[0] as unknown as Buffer),
    0,
  );
  update.mock.restore();
  assert.ok(hashed <= 8 * 1024, `${hashed} bytes`);
  const canonical = `${'\r\n'.repeat(1_000_000)}x\r\n`;
  assert.equal(hash.digest(), createHash('sha256').update(canonical).digest('base64'));
});

test('two bodies can be hashed in turns', () => {
  const [one, other] = [createBodyHash(), createBodyHash()];
  one.update(Buffer.from('a  b'));
  other.update(Buffer.from('c \t'));
  one.update(Buffer.from(' \r\n'));
  other.update(Buffer.from('d'));
  assert.equal(one.digest(), reference('a  b \r\n'));
  assert.equal(other.digest(), reference('c \td'));
});

test('the caller may reuse the memory of a chunk', () => {
  const hash = createBodyHash();
  const memory = Buffer.alloc(4);
  for (const text of ['a  b', ' c\r\n', 'd\t\re']) {
    memory.write(text);
    hash.update(memory);
  }
  assert.equal(hash.digest(), reference('a  b c\r\nd\t\re'));
});

test('an empty body and one of empty lines have the hash of nothing', () => {
  const ofNothing = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
  for (const body of ['', '\r\n', ' \t\r\n', '\r\n'.repeat(5_000), ' ']) {
    assert.equal(hashOf([Buffer.from(body)]), ofNothing);
  }
});
