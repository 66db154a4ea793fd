import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registrableDomain } from '../../src/mail/domain-names.ts';

test('all names below a registered one have the same owner', async () => {
  for (const [name, expected] of [
    ['example.com', 'example.com'],
    ['a.b.mail.example.com', 'example.com'],
    ['mail.example.co.uk', 'example.co.uk'],
    ['www.city.kawasaki.jp', 'city.kawasaki.jp'],
    // The owner of a name that hands out names below it answers for them.
    ['somebody.github.io', 'github.io'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['mail.unknown-suffix.example', 'unknown-suffix.example'],
  ] as const)
    assert.equal(await registrableDomain(name), expected, name);
});

test('a name with labels that are not valid has the owner of a valid one', async () => {
  for (const label of ['_dmarc', '-a-', 'a'.repeat(64), '192.0.2.1', 'a..b', ''])
    assert.equal(await registrableDomain(`${label}.example.com`), 'example.com', label);
});

test('a public suffix stands for itself', async () => {
  for (const name of ['com', 'co.uk', 'localhost', '']) assert.equal(await registrableDomain(name), name);
});
