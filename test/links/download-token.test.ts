import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { openDownload, sealDownload } from '../../src/links/download-token.ts';
import { linkKeysOf } from '../../src/links/keys.ts';
import { newId } from '../../src/system/ids.ts';

const MASTER = randomBytes(32);
const keys = linkKeysOf(MASTER);
const NOW = Date.UTC(2026, 10, 24);
const download = { messageId: newId('in', NOW), file: 3, expiresAt: NOW + 86_400_000 };
const token = sealDownload(keys, download);

test('a token of 56 characters names a message, a file and the end of the link', () => {
  assert.match(token, /^[\w-]{56}$/);
  assert.deepEqual(openDownload(keys, token, NOW), download);
  assert.equal(openDownload(keys, sealDownload(keys, { ...download, file: 0 }), NOW)?.file, 0);
});

test('a token is valid before its end, and not from then on', () => {
  assert.deepEqual(openDownload(keys, token, download.expiresAt - 1), download);
  assert.equal(openDownload(keys, token, download.expiresAt), undefined);
});

test('a token with any byte changed, or of another length, is none', () => {
  const bytes = Buffer.from(token, 'base64url');
  for (let index = 0; index < bytes.length; index++) {
    for (const flip of [1, 0x80, 0xff]) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ flip;
      assert.equal(openDownload(keys, changed.toString('base64url'), NOW), undefined, `byte ${index}`);
    }
  }
  for (const other of ['', '-', token.slice(1), `${token}A`, `${token}=`, `.${token}`, ` ${token}`])
    assert.equal(openDownload(keys, other, NOW), undefined, other);
});

test('tokens of a former master key stay valid, and those of a foreign one never are', () => {
  assert.deepEqual(openDownload(linkKeysOf(randomBytes(32), MASTER), token, NOW), download);
  // Keys are named by one byte, so the codes of two hundred of them are tried.
  const foreign = linkKeysOf(randomBytes(32), ...Array.from({ length: 200 }, () => randomBytes(32)));
  assert.equal(openDownload(foreign, token, NOW), undefined);
});
