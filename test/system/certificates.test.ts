import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CertificateError, createCertificateStore } from '../../src/system/certificates.ts';
import { EC_PAIR, RSA_PAIR, WILDCARD_PAIR } from './certificate-pairs.ts';

test('the name that the client asks for decides, and an unknown one gets the first certificate', () => {
  const store = createCertificateStore([EC_PAIR, WILDCARD_PAIR]);
  const standard = store.find('');
  const wildcard = store.find('mail.example');
  assert.notEqual(wildcard, standard);
  for (const name of ['imap.mail.example', 'Imap.Mail.Example.'])
    assert.equal(store.find(name), wildcard, name);
  const others = ['mx.example', 'unknown.example', 'cn-only.example', 'two.labels.mail.example'];
  for (const name of others) assert.equal(store.find(name), standard, name);
});

test('the pairs for a name are those that its clients may be shown', () => {
  const other = { ...EC_PAIR };
  const store = createCertificateStore([RSA_PAIR, EC_PAIR, other, WILDCARD_PAIR]);
  const keysFor = (name: string) => store.pairsFor(name).map(({ key }) => key);
  assert.deepEqual(keysFor('mx.example'), [RSA_PAIR.key, EC_PAIR.key]);
  assert.deepEqual(keysFor('unknown.example'), [RSA_PAIR.key, EC_PAIR.key]);
  assert.deepEqual(keysFor('mail.example'), [WILDCARD_PAIR.key]);
});

test('a chain whose end is missing is refused', () => {
  const chain = `${EC_PAIR.chain}\n${RSA_PAIR.chain.slice(0, 200)}`;
  assert.throws(
    () => createCertificateStore([{ ...EC_PAIR, chain }]),
    /a certificate or its key cannot be read: .*bad end line/,
  );
});

test('a bad replacement leaves the earlier certificates in place', () => {
  const store = createCertificateStore([EC_PAIR]);
  const before = store.find('');
  const mismatched = { chain: RSA_PAIR.chain, key: EC_PAIR.key };
  assert.throws(
    () => store.replace([WILDCARD_PAIR, mismatched]),
    new CertificateError('the key does not belong to the certificate of mx.example'),
  );
  assert.throws(() => store.replace([{ chain: 'no', key: 'no' }]), /a certificate or its key cannot be read/);
  assert.throws(() => store.replace([]), /there is no certificate/);
  assert.equal(store.find(''), before);
  store.replace([WILDCARD_PAIR]);
  assert.notEqual(store.find(''), before);
});
