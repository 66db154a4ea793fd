import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from '../../../src/mailboxes/passwords/hash.ts';
import {
  generatePassword,
  normalizePassword,
  readPassword,
} from '../../../src/mailboxes/passwords/password.ts';
import { countHashes } from './counted-hashes.ts';

const always = { owner: 'a', mayStart: () => true, onMismatch: () => {} };

test('a password matches its hash alone, and two hashes of one password differ', async () => {
  const [one, two] = [await hashPassword('correct horse', 'a'), await hashPassword('correct horse', 'a')];
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(one, two);
  assert.equal(await verifyPassword('correct horse', one, always), true);
  assert.equal(await verifyPassword('correct horsf', one, always), false);
});

test('a hash with other parameters, of another program, is understood', async () => {
  // The reference implementation of Argon2 has this hash of "password" among its tests.
  const foreign = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
  assert.equal(await verifyPassword('password', foreign, always), true);
  assert.equal(await verifyPassword('Password', foreign, always), false);
});

test('what is not a hash costs as much as a hash, and matches nothing', async (t) => {
  const hashes = countHashes();
  t.after(hashes.restore);
  await hashPassword('correct horse', 'a');
  const [cost] = hashes.take();
  for (const text of ['', 'correct horse', '$argon2id$v=19$m=19456,t=2,p=1$$']) {
    assert.equal(await verifyPassword('correct horse', text, always), false);
    assert.deepEqual(hashes.take(), [cost], text);
  }
});

test('at most two hashes are computed at a time, and those who wait take turns', async (t) => {
  const hashes = countHashes();
  t.after(hashes.restore);
  hashes.hold();
  const done: string[] = [];
  const ask = (owner: string) => hashPassword('correct horse', owner).then(() => void done.push(owner));
  const all = [...['a', 'a', 'a', 'a', 'b']].map(ask);
  for (let released = 0; released < 5; released++) {
    await new Promise(setImmediate);
    assert.equal(hashes.take().length, released === 0 ? 2 : released < 4 ? 1 : 0);
    hashes.release();
  }
  await Promise.all(all);
  assert.equal(done.indexOf('b') < 4, true, 'b did not wait for all of a');
});

test('a comparison whose turn comes too late does not start, and one too many is refused', async (t) => {
  const hashes = countHashes();
  t.after(hashes.restore);
  hashes.hold();
  const running = [hashPassword('one', 'a'), hashPassword('two', 'a')];
  let mayStart = true;
  const waiting = verifyPassword('x', '', { ...always, mayStart: () => mayStart });
  const others = Array.from({ length: 1_999 }, () =>
    verifyPassword('x', '', { ...always, mayStart: () => false }),
  );
  assert.equal(await verifyPassword('x', '', always), 'busy');
  await assert.rejects(hashPassword('three', 'a'), { code: 'unavailable' });
  mayStart = false;
  assert.equal(hashes.take().length, 2);
  hashes.release();
  assert.equal(await waiting, 'not-started');
  hashes.release();
  await Promise.all([...running, ...others]);
  assert.equal(hashes.take().length, 0);
});

test('passwords that people choose have a length and no control characters, and one spelling', () => {
  const refused = ['', 'a'.repeat(7), 'a'.repeat(257), 'abc\u0000defgh', 'abcdefgh\n', 'abcdefg\ud800'];
  for (const text of refused)
    assert.throws(() => readPassword('password', text), { code: 'validation_error' });
  assert.equal(readPassword('password', '\u{1f600}'.repeat(8)), '\u{1f600}'.repeat(8));
  assert.equal(readPassword('password', 'a'.repeat(256)), 'a'.repeat(256));
  assert.equal(readPassword('password', 'Mu\u0308ller 12'), 'M\u00fcller 12');
  assert.equal(normalizePassword('Mu\u0308ller 12'), 'M\u00fcller 12');
});

test('generated passwords differ, and are four groups without spaces', () => {
  const made = new Set(Array.from({ length: 100 }, generatePassword));
  assert.equal(made.size, 100);
  for (const password of made) {
    assert.match(password, /^[0-9a-z]{6}(-[0-9a-z]{6}){3}$/);
    assert.equal(readPassword('password', password), password);
  }
});
