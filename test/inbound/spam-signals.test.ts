import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSignals, type SignalInput } from '../../src/inbound/spam-signals.ts';
import { PASS } from './mail-world.ts';

const NOW = Date.UTC(2027, 0, 15);
const FIELDS = {
  from: 'Ann <ann@sender.example>',
  date: 'Fri, 15 Jan 2027 00:00:00 +0000',
  'message-id': '<1@sender.example>',
};
const GOOD: SignalInput = {
  result: PASS,
  isQuarantined: false,
  helo: 'mail.sender.example',
  hostname: 'mx.postrider.example',
  fields: new Map(Object.entries(FIELDS)),
  now: NOW,
};

function names(change: Partial<SignalInput>): string[] {
  return findSignals({ ...GOOD, ...change }).map(({ name }) => name);
}

function withFields(change: Record<string, string | undefined>): Partial<SignalInput> {
  const fields = Object.entries({ ...FIELDS, ...change });
  return { fields: new Map(fields.filter((field): field is [string, string] => field[1] !== undefined)) };
}

function withResult(change: Partial<SignalInput['result']>): Partial<SignalInput> {
  return { result: { ...PASS, ...change } };
}

test('a message that servers of people send has no signs of spam', () => {
  assert.deepEqual(names({}), []);
  assert.deepEqual(names({ helo: undefined }), []);
});

const SIGNATURE = { domain: 'sender.example', selector: 's', algorithm: '', reason: '', isAligned: false };
const SPF = { domain: 'sender.example', reason: '' };
const DMARC = { domain: 'sender.example', reason: '' };

for (const [name, change] of [
  ['dmarc_quarantine', { isQuarantined: true }],
  ['dmarc_fail', withResult({ dmarc: { ...DMARC, result: 'fail', policy: 'none' } })],
  ['spf_fail', withResult({ spf: { ...SPF, result: 'fail' } })],
  ['spf_softfail', withResult({ spf: { ...SPF, result: 'softfail' } })],
  ['helo_spf_fail', withResult({ heloSpf: { ...SPF, result: 'fail' } })],
  ['dkim_fail', withResult({ dkim: [{ ...SIGNATURE, result: 'fail' }] })],
  ['no_reverse_dns', withResult({ reverseDns: { result: 'none', name: undefined } })],
  ['unconfirmed_reverse_dns', withResult({ reverseDns: { result: 'fail', name: 'a.example' } })],
  ['helo_is_ours', { helo: 'MX.postrider.example' }],
  ['helo_is_literal', { helo: '[192.0.2.1]' }],
  ['helo_not_qualified', { helo: 'localhost' }],
  ['helo_not_qualified', { helo: '192.0.2.1' }],
  ['missing_date', withFields({ date: undefined })],
  ['invalid_date', withFields({ date: 'yesterday' })],
  ['date_in_future', withFields({ date: 'Sun, 17 Jan 2027 00:00:00 +0000' })],
  ['missing_message_id', withFields({ 'message-id': undefined })],
  ['author_named_like_other', withFields({ from: '"service@bank.example" <ann@sender.example>' })],
  [
    'author_named_like_other',
    withFields({ from: '=?utf-8?Q?service=40bank.example?= <ann@sender.example>' }),
  ],
] satisfies [string, Partial<SignalInput>][])
  test(`the sign ${name}: ${JSON.stringify([...((change as Partial<SignalInput>).fields?.values() ?? [change])])}`, () => {
    assert.deepEqual(names(change), [name]);
  });

test('names that only look like other addresses are no sign', () => {
  for (const from of [
    '"ann@sender.example" <ann@sender.example>',
    '"ann@news.sender.example" <ann@sender.example>',
    'Ann @ Home <ann@sender.example>',
    'ann@sender.example',
    '<ann@sender.example>',
    'a valid signature',
  ])
    assert.deepEqual(names(withFields({ from })), [], from);
});

test('a valid signature beside one that fails is no sign', () => {
  const dkim = [
    { ...SIGNATURE, result: 'fail' },
    { ...SIGNATURE, result: 'pass' },
  ] as const;
  assert.deepEqual(names(withResult({ dkim })), []);
});

test('long and hostile fields take no time', () => {
  const before = process.threadCpuUsage();
  for (const from of [
    'a'.repeat(8_192),
    '@'.repeat(8_192),
    `${'a@b.'.repeat(2_000)}<`,
    `${'a@b-'.repeat(2_000)}<x>`,
  ])
    names(withFields({ from, date: from }));
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 1_000_000, `${user + system} microseconds`);
});
