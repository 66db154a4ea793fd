import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  dkimKeyRecord,
  generateDkimKey,
  generateEd25519Key,
  parseDkimKeyRecord,
} from '../../../src/mail/dkim/key.ts';
import { parseTagList } from '../../../src/mail/dkim/tag-list.ts';
import { parseVerificationKey } from '../../../src/mail/dkim/verify/keys.ts';

test('a generated key is RSA of 2048 bits, its public half the one of the record', async () => {
  const { privateKeyPem, publicKeyBase64 } = await generateDkimKey();
  const privateKey = createPrivateKey(privateKeyPem);
  assert.equal(privateKey.asymmetricKeyType, 'rsa');
  assert.equal(privateKey.asymmetricKeyDetails?.modulusLength, 2048);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  assert.equal(publicKey.toString('base64'), publicKeyBase64);
  assert.deepEqual(parseDkimKeyRecord(dkimKeyRecord(publicKeyBase64)), { type: 'rsa', publicKeyBase64 });
});

test('a generated Ed25519 key is published in 44 characters, and a verifier reads it', async () => {
  const { privateKeyPem, publicKeyBase64 } = await generateEd25519Key();
  const record = dkimKeyRecord(publicKeyBase64, 'ed25519');
  assert.equal(publicKeyBase64.length, 44);
  assert.deepEqual(parseDkimKeyRecord(record), { type: 'ed25519', publicKeyBase64 });
  const found = parseVerificationKey(record);
  assert.ok(found.kind === 'key');
  assert.ok(found.key.equals(createPublicKey(createPrivateKey(privateKeyPem))));
});

test('records are read with white space anywhere, in any order, with tags we do not know', () => {
  const expected = { type: 'rsa', publicKeyBase64: 'AbC+/d==' };
  const records = [
    'v=DKIM1; k=rsa; p=AbC+/d==',
    'v=DKIM1;k=rsa;p=AbC+/d==;',
    ' v = DKIM1 ; k = rsa ; p = AbC +/ \t d== ; ',
    'p=AbC+/d==',
    'v=DKIM1; p=AbC+/d==; t=s; n=notes; x_new=1; h=sha1:sha256; s=email',
    'v=DKIM1; s=*; p=AbC+/d==',
    'v=DKIM1; k=rsa; p=AbC+/d==;;',
    'v=DKIM1; k=rsa; p=AbC+/d== ; ; ;',
    'v=DKIM1;; ;p=AbC+/d==',
    ';v=DKIM1; p=AbC+/d==',
    'v=DKIM1; k=RSA; h=SHA256; s=Email; p=AbC+/d==',
  ];
  for (const record of records) assert.deepEqual(parseDkimKeyRecord(record), expected, record);
});

test('a record without a usable key for mail is refused', () => {
  const records = [
    '',
    'v=spf1 -all',
    'v=DKIM1; k=rsa',
    'v=DKIM1; k=rsa; p=',
    'v=DKIM1; k=dsa; p=AbCd',
    'v=DKIM2; p=AbCd',
    'p=AbCd; v=DKIM1',
    'v=DKIM1; p=AbCd; p=AbCd',
    'v=DKIM1; p=not base64!',
    'v=DKIM1; h=sha1; p=AbCd',
    'v=DKIM1; s=tlsrpt; p=AbCd',
    'v=dkim1; p=AbCd',
    'V=DKIM1; P=AbCd',
    'v=DKIM1; =; p=AbCd',
    `v=DKIM1; p=${'A'.repeat(5000)}`,
  ];
  for (const record of records) assert.equal(parseDkimKeyRecord(record), undefined, record);
});

test('a key record of a sender is read with empty tags, and values in any case', async () => {
  const { publicKeyBase64 } = await generateDkimKey();
  for (const record of [
    `v=DKIM1; k=rsa; p=${publicKeyBase64};;`,
    `v=DKIM1;; k=RSA; h=SHA256; s=EMAIL; t=Y; p=${publicKeyBase64} ; ;`,
  ])
    assert.equal(parseVerificationKey(record).kind, 'key', record);
  assert.equal(parseVerificationKey(`v=dkim1; p=${publicKeyBase64}`).kind, 'unusable');
  assert.equal(parseTagList('a=1;;b=2'), undefined, 'a signature has no empty tags');
});

test('no text makes the reader of records throw', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseDkimKeyRecord(text)));
});
