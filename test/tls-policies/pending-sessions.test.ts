import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportedFailure, ReportedPolicy } from '../../src/mail/tls-policy/reported-session.ts';
import { MAX_CHARACTERS, PendingSessions } from '../../src/tls-policies/pending-sessions.ts';

const NO_POLICY: ReportedPolicy = { type: 'no-policy-found', lines: [], mx: [] };
const failureAt = (address: string): ReportedFailure => ({
  type: 'certificate-expired',
  host: 'mx.one.test',
  address,
  reason: 'it has expired',
});

const takeAll = (pending: PendingSessions) => pending.days.flatMap(({ key }) => pending.take(key));
const sum = (rows: readonly { sessions: number }[]) =>
  rows.reduce((total, { sessions }) => total + sessions, 0);

test('sessions that ended alike are one result, and the next day has its own', () => {
  const pending = new PendingSessions();
  const session = { day: 0, domain: 'one.test', policy: NO_POLICY, failure: null };
  for (const one of [
    session,
    session,
    { ...session, failure: failureAt('192.0.2.1') },
    { ...session, day: 1 },
  ])
    assert.ok(pending.count(one));
  assert.deepEqual(
    takeAll(pending).map(({ day, failure, sessions }) => [day, failure !== '', sessions]),
    [
      [0, false, 2],
      [0, true, 1],
      [1, false, 1],
    ],
  );
  assert.deepEqual([pending.characters, pending.days], [0, []]);
});

test('domains with policies of any length and failures of any number take a bounded memory, and no session of theirs is lost', () => {
  const pending = new PendingSessions();
  const known = { day: 0, domain: 'first.test', policy: NO_POLICY, failure: failureAt('192.0.2.1') };
  assert.ok(pending.count(known));
  let counted = 1;
  for (let number = 0; number < 9_000; number++) {
    const domain = `d${number % 3_000}.test`;
    const policy: ReportedPolicy = { type: 'sts', lines: [`mx: ${number} ${'a'.repeat(8_000)}`], mx: [] };
    assert.ok(pending.count({ day: 0, domain, policy, failure: failureAt(`2001:db8::${number}`) }));
    counted++;
  }
  assert.ok(pending.count(known));
  assert.ok(pending.characters <= MAX_CHARACTERS, `${pending.characters}`);
  const rows = takeAll(pending);
  assert.equal(sum(rows), counted + 1);
  const first = rows.filter(({ domain }) => domain === 'first.test');
  assert.deepEqual(
    first.map(({ failure, sessions }) => [JSON.parse(failure).address, sessions]),
    [['192.0.2.1', 2]],
  );
  const last = rows.filter(({ domain }) => domain === 'd2999.test');
  assert.deepEqual(
    last.map(({ policy, failure }) => [
      JSON.parse(policy).type,
      JSON.parse(failure).type,
      JSON.parse(failure).host,
    ]),
    [['sts', 'certificate-expired', null]],
  );
});

test('one domain has a bounded number of results with their details', () => {
  const pending = new PendingSessions();
  for (let number = 0; number < 300; number++)
    pending.count({ day: 0, domain: 'one.test', policy: NO_POLICY, failure: failureAt(`192.0.2.${number}`) });
  const rows = takeAll(pending);
  assert.deepEqual([rows.length, sum(rows), rows.at(-1)?.sessions], [201, 300, 100]);
});

test('a session for which there is no room at all is refused', () => {
  const pending = new PendingSessions();
  let refused = 0;
  for (let number = 0; number < 16_000; number++)
    if (
      !pending.count({
        day: 0,
        domain: `d${number}.test`,
        policy: NO_POLICY,
        failure: failureAt('192.0.2.1'),
      })
    )
      refused++;
  assert.ok(pending.characters <= MAX_CHARACTERS);
  assert.ok(refused > 0);
  assert.equal(sum(takeAll(pending)) + refused, 16_000);
});
