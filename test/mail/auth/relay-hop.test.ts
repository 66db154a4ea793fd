import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findClient } from '../../../src/mail/auth/client.ts';
import { splitFields } from '../../../src/mail/dkim/verify/header-fields.ts';

const TRUSTED = ['192.0.2.1', '192.0.2.2', '2001:db8::1'];
const RELAY = { address: '192.0.2.1', helo: 'relay.example' };

function find(header: string, client = RELAY) {
  return findClient(splitFields(header), client, (address) => TRUSTED.includes(address));
}

const BY =
  '\r\n\tby relay.example (Postfix) with ESMTPS id 1\r\n\tfor <a@example.net>; Thu, 1 Jan 2026 00:00:00 +0000\r\n';

test('a client that is no trusted relay is judged itself, whatever its message says', () => {
  const client = { address: '203.0.113.9', helo: 'other.example' };
  assert.deepEqual(find(`Received: from x.example (x.example [198.51.100.7])${BY}`, client), client);
});

test('the client of a trusted relay is read from the field of the relay, in the forms of common servers', () => {
  const cases: [string, { address: string; helo: string }][] = [
    [
      'from mail.example.org (rdns.example.org [198.51.100.7])',
      { address: '198.51.100.7', helo: 'mail.example.org' },
    ],
    [
      'from mail.example.org (unknown [IPv6:2001:db8::7])',
      { address: '2001:db8::7', helo: 'mail.example.org' },
    ],
    ['from [10.0.0.1] (rdns.example.org [198.51.100.7])', { address: '198.51.100.7', helo: '[10.0.0.1]' }],
  ];
  for (const [from, client] of cases) assert.deepEqual(find(`Received: ${from}${BY}`), client, from);
});

test('fields of several trusted relays are followed, and no field below them', () => {
  const header =
    `Received: from r2.example (r2.example [192.0.2.2])${BY}` +
    `Received: from r3.example (r3.example [IPv6:2001:db8::1])${BY}` +
    `Received: from mail.example.org (mail.example.org [198.51.100.7])${BY}` +
    `Received: from forged.example (forged.example [203.0.113.1])${BY}`;
  assert.deepEqual(find(header), { address: '198.51.100.7', helo: 'mail.example.org' });
});

test('fields that do not tell the client give none', () => {
  for (const header of [
    '',
    'Subject: Hi\r\n',
    `Received: by relay.example with local; Thu, 1 Jan 2026 00:00:00 +0000\r\n`,
    `Received: from mail.example.org${BY}`,
    `Received: from [198.51.100.7]${BY}`,
    `Received: from mail.example.org (helo=[203.0.113.1])${BY}`,
    `Received: from mail.example.org (x [999.1.1.1])${BY}`,
    `Received: from mail.example.org (${'('.repeat(5_000)}[203.0.113.1])${BY}`,
    `Received: from r2.example (r2.example [192.0.2.2])${BY}`.repeat(30),
  ])
    assert.equal(find(header), undefined, header.slice(0, 80));
});
