import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { createSealer, loadMasterKey } from '../../src/system/seal.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-seal-'));
after(() => rmSync(root, { recursive: true, force: true }));

const sealer = createSealer(randomBytes(32));
const PLACE = ['ten_1', 'dom_1'];

test('any sealed secret opens in the context it was sealed for', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.string()), (secret, place) => {
      assert.equal(sealer.open(sealer.seal(secret, place), place), secret);
    }),
  );
});

test('the same secret is sealed differently each time, and never shows', () => {
  const sealed = new Set(Array.from({ length: 100 }, () => sealer.seal('whsec_hunter2', PLACE)));
  assert.equal(sealed.size, 100);
  for (const text of sealed) {
    assert.match(text, /^v1\.[0-9a-f]{8}\.[A-Za-z0-9+/]+=*$/);
    assert.ok(!Buffer.from(text.split('.')[2] ?? '', 'base64').includes('hunter2'));
  }
});

test('a sealed value that was moved does not open', () => {
  const sealed = sealer.seal('secret', PLACE);
  for (const place of [
    ['ten_2', 'dom_1'],
    ['ten_1', 'dom_2'],
    ['ten_1'],
    ['ten_1dom_1'],
    ['ten_1,dom_1'],
    [],
  ]) {
    assert.throws(() => sealer.open(sealed, place), /authenticate/, place.join());
  }
});

test('a sealed value that was changed, anywhere, does not open', () => {
  const [format, keyId, body = ''] = sealer.seal('secret', PLACE).split('.');
  const bytes = Buffer.from(body, 'base64');
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    assert.throws(
      () => sealer.open(`${format}.${keyId}.${changed.toString('base64')}`, PLACE),
      /authenticate/,
    );
  }
});

test('a value that is too short to be sealed, or has another form, is refused', () => {
  const [format, keyId, body = ''] = sealer.seal('secret', PLACE).split('.');
  const bytes = Buffer.from(body, 'base64');
  for (const length of [0, 4, 16, 27]) {
    const cut = bytes.subarray(0, length).toString('base64');
    assert.throws(() => sealer.open(`${format}.${keyId}.${cut}`, PLACE), /not a sealed value/, `${length}`);
  }
  for (const text of ['', 'secret', `v2.${keyId}.${body}`, `v1.${keyId}`]) {
    assert.throws(() => sealer.open(text, PLACE), /not a sealed value/, text);
  }
});

test('a sealed value does not open with another master key, and the error names both keys', () => {
  const other = createSealer(randomBytes(32));
  assert.throws(() => other.open(sealer.seal('secret', PLACE), PLACE), /sealed with key [0-9a-f]{8}, but/);
});

test('the master key is made once, for its owner alone, and then stays', () => {
  const directory = join(root, 'new', 'data');
  const key = loadMasterKey(directory);
  assert.equal(key.length, 32);
  const file = join(directory, 'master.key');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(existsSync(`${file}.new`), false);
  assert.equal(readFileSync(file, 'utf8'), `${key.toString('hex')}\n`);
  assert.deepEqual(loadMasterKey(directory), key);
  assert.notDeepEqual(loadMasterKey(join(root, 'other')), key);
});

test('a key that a crash left half written is made anew: nothing was sealed with it yet', () => {
  const directory = mkdtempSync(join(root, 'torn-'));
  writeFileSync(join(directory, 'master.key.new'), 'ab');
  assert.equal(loadMasterKey(directory).length, 32);
});

test('a master key of another size is refused, not used', () => {
  const directory = mkdtempSync(join(root, 'bad-'));
  const file = join(directory, 'master.key');
  for (const text of ['', 'abcd', 'z'.repeat(64), 'a'.repeat(66)]) {
    writeFileSync(file, text);
    chmodSync(file, 0o600);
    assert.throws(() => loadMasterKey(directory), /does not hold a key of 32 bytes/);
    assert.equal(readFileSync(file, 'utf8'), text);
  }
});

test('a missing key is not replaced when something is sealed with it', () => {
  const directory = mkdtempSync(join(root, 'lost-'));
  assert.throws(() => loadMasterKey(directory, true), /master\.key is missing/);
  assert.equal(existsSync(join(directory, 'master.key')), false);
});
