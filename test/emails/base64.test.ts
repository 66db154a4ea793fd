import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { base64Size, isBase64 } from '../../src/emails/base64.ts';

const check = (text: string) => isBase64(Buffer.from(text, 'latin1'));

test('an encoder writes base64 of the expected size', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const ascii = Buffer.from(Buffer.from(bytes).toString('base64'));
      assert.equal(await isBase64(ascii), true);
      assert.equal(base64Size(ascii), bytes.length);
    }),
  );
});

test('any text is base64 exactly when encoding what it decodes to gives it back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[AQg+/=w \n]{0,12}$/), async (text) => {
      const isCanonical = Buffer.from(text, 'base64').toString('base64') === text;
      assert.equal(await check(text), isCanonical, JSON.stringify(text));
    }),
    { numRuns: 150 },
  );
});

test('a large text is checked to its end, in slices', async () => {
  const ascii = Buffer.alloc(6 * 1024 * 1024, 'A');
  let turns = 0;
  const count = () => {
    turns++;
    pending = setImmediate(count);
  };
  let pending = setImmediate(count);
  assert.equal(await isBase64(ascii), true);
  clearImmediate(pending);
  assert.ok(turns >= 2, `${turns} turns`);
  ascii[ascii.length - 5] = 0x2e;
  assert.equal(await isBase64(ascii), false);
});
