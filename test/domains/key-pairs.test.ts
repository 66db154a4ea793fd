import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyPairs, type KeyPair, MAX_REQUESTED } from '../../src/domains/key-pairs.ts';
import { AppError } from '../../src/system/errors.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** What it comes to without waiting for anything; undefined while it is open. */
const soon = (work: Promise<unknown> | undefined) => Promise.race([work?.catch((error) => error), settle()]);

/** Key pairs that are made when the test says so. */
function open() {
  const begun: PromiseWithResolvers<KeyPair>[] = [];
  const keyPairs = createKeyPairs(() => {
    const pair = Promise.withResolvers<KeyPair>();
    begun.push(pair);
    return pair.promise;
  });
  const finish = (text: string) => begun.at(-1)?.resolve({ privateKeyPem: text, publicKeyBase64: text });
  return { keyPairs, begun, finish };
}

test('keys are made one at a time, in turn, each for the one who asked', async () => {
  const { keyPairs, begun, finish } = open();
  const pairs = [keyPairs.generate(), keyPairs.generate(), keyPairs.generate()];
  for (const [index, pair] of pairs.entries()) {
    await settle();
    assert.equal(begun.length, index + 1);
    finish(`key ${index}`);
    assert.equal((await pair).privateKeyPem, `key ${index}`);
  }
});

test('a key pair that cannot be made fails the caller that asked for it alone', async () => {
  const { keyPairs, begun, finish } = open();
  const pairs = [keyPairs.generate(), keyPairs.generate()];
  const first = assert.rejects(pairs[0] ?? Promise.resolve(), /no entropy/);
  await settle();
  begun[0]?.reject(new Error('no entropy'));
  await first;
  await settle();
  finish('second');
  assert.equal((await pairs[1])?.privateKeyPem, 'second');
});

test('the request beyond the maximum is refused at once, and the next one is accepted when another has ended', async () => {
  const { keyPairs, begun, finish } = open();
  const asked = Array.from({ length: MAX_REQUESTED }, () => keyPairs.generate());
  const refusal = await soon(keyPairs.generate());
  assert.ok(refusal instanceof AppError, String(refusal));
  assert.deepEqual([refusal.code, refusal.options.retryAfterSeconds], ['unavailable', 5]);
  await settle();
  assert.equal(begun.length, 1);
  finish('first');
  assert.deepEqual(await soon(asked[0]), { privateKeyPem: 'first', publicKeyBase64: 'first' });
  assert.equal(await soon(keyPairs.generate()), undefined, 'it waits');
});

test('the key pairs are real ones when no generator is given', async () => {
  const { privateKeyPem } = await createKeyPairs().generate();
  assert.match(privateKeyPem, /^-----BEGIN PRIVATE KEY-----/);
});
