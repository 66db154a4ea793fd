import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuthenticationResult, undecided } from '../../../src/mail/auth/result.ts';
import { evaluateMessage } from '../../../src/mail/auth/verdict.ts';

const FAILED: AuthenticationResult = {
  ...undecided('192.0.2.1', ''),
  spf: { result: 'fail', domain: 'evil.example', reason: '' },
  dmarc: { result: 'fail', policy: 'reject', domain: 'bank.example', reason: 'nothing passes' },
  from: { addresses: ['a@bank.example'], fields: 1 },
};
const OPTIONS = { isNotification: false, trustedSealers: ['lists.example', 'relay.example'] };

function verdictFor(change: Partial<AuthenticationResult>): string {
  const verdict = evaluateMessage({ ...FAILED, ...change }, OPTIONS);
  if (verdict.kind !== 'accept') return `${verdict.code} ${verdict.status}`;
  return verdict.isFlagged ? 'flag' : 'accept';
}

const dmarc = (
  result: AuthenticationResult['dmarc']['result'],
  policy?: 'none' | 'quarantine' | 'reject',
) => ({
  dmarc: { ...FAILED.dmarc, result, policy },
});
const from = (fields: number, ...addresses: string[]) => ({ from: { addresses, fields } });

test('the policy of the author decides about a message that fails DMARC', () => {
  assert.equal(verdictFor(dmarc('fail', 'reject')), '550 5.7.1');
  assert.equal(verdictFor(dmarc('fail', 'quarantine')), 'flag');
  assert.equal(verdictFor(dmarc('fail', 'none')), 'accept');
  assert.equal(verdictFor(dmarc('pass', 'reject')), 'accept');
  assert.equal(verdictFor(dmarc('none')), 'accept');
});

test('a bounce needs no author with an address, and other mail does', () => {
  const nameless = { ...dmarc('permerror'), from: { addresses: [], fields: 1, isNameless: true } } as const;
  const verdictAs = (isNotification: boolean, change: Partial<AuthenticationResult>) =>
    evaluateMessage({ ...FAILED, ...change }, { ...OPTIONS, isNotification }).kind;
  assert.equal(verdictAs(true, nameless), 'accept');
  assert.equal(verdictAs(true, { ...nameless, from: { ...nameless.from, fields: 0 } }), 'accept');
  assert.equal(verdictAs(false, nameless), 'refuse');
  assert.equal(verdictAs(true, { ...nameless, from: { addresses: [], fields: 1 } }), 'refuse', 'unreadable');
  assert.equal(verdictAs(true, { ...nameless, from: { ...nameless.from, fields: 2 } }), 'refuse');
  assert.equal(verdictAs(true, {}), 'refuse', 'the policy of an author counts');
});

test('a message without exactly one author is refused, whatever passes', () => {
  for (const change of [from(0), from(1), from(2, 'a@b.example'), from(1, 'a@b.example', 'c@d.example')]) {
    assert.equal(verdictFor({ ...change, ...dmarc('permerror') }), '550 5.6.0');
    assert.equal(verdictFor({ ...change, ...dmarc('pass') }), '550 5.6.0');
  }
});

test('what is not known yet, or missing, is asked for again, and is never a pass', () => {
  const spf = { ...FAILED.spf, result: 'temperror' } as const;
  assert.equal(verdictFor({ ...dmarc('temperror'), spf }), '451 4.7.24');
  assert.equal(verdictFor(dmarc('temperror', 'none')), '451 4.7.0');
  assert.equal(verdictFor(dmarc('permerror')), '451 4.7.0');
  assert.equal(verdictFor(dmarc('fail')), '451 4.7.0');
  assert.equal(verdictFor(undecided('192.0.2.1', 'no time')), '451 4.7.24');
});

const set = (sealer: string, dmarcResult = 'pass', authorDomain = 'bank.example') => ({
  sealer,
  dmarc: dmarcResult,
  authorDomain,
});

test('a trusted sealer that has seen DMARC pass overrides the policy', () => {
  const arc = (...sets: ReturnType<typeof set>[]) => ({ arc: { result: 'pass' as const, sets, reason: '' } });
  assert.equal(verdictFor(arc(set('lists.example'))), 'accept');
  assert.equal(verdictFor({ ...arc(set('lists.example')), ...dmarc('fail', 'quarantine') }), 'accept');
  assert.equal(verdictFor(arc(set('lists.example'), set('relay.example', 'fail'))), 'accept');
  assert.equal(verdictFor(arc(set('stranger.example', 'fail'), set('lists.example'))), 'accept');
});

test('an ARC chain overrides nothing unless all that vouch for it are trusted', () => {
  const arc = (...sets: ReturnType<typeof set>[]) => ({ arc: { result: 'pass' as const, sets, reason: '' } });
  const refused = '550 5.7.1';
  assert.equal(verdictFor(arc(set('stranger.example'))), refused);
  assert.equal(verdictFor(arc(set('lists.example'), set('stranger.example', 'fail'))), refused);
  assert.equal(verdictFor(arc(set('stranger.example'), set('lists.example', 'fail'))), refused);
  assert.equal(verdictFor(arc(set('lists.example', 'fail'))), refused);
  assert.equal(verdictFor(arc(set('lists.example', 'pass', 'evil.example'))), refused);
  assert.equal(verdictFor(arc()), refused);
  assert.equal(verdictFor({ arc: { result: 'fail', sets: [set('lists.example')], reason: '' } }), refused);
});
