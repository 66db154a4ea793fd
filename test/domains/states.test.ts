import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Verdict, Verdicts } from '../../src/domains/check.ts';
import { afterCheck, type DomainState, GRACE_MS, maySend, newState } from '../../src/domains/states.ts';

const right: Verdict = { kind: 'verified', found: ['right'] };
const absent: Verdict = { kind: 'absent', error: 'absent' };
const wrong: Verdict = { kind: 'wrong', found: ['wrong'], error: 'wrong' };
const unknown: Verdict = { kind: 'unknown', error: 'unknown' };

const verdicts = (SPF: Verdict, DKIM: Verdict = right, DMARC: Verdict = right): Verdicts => ({
  SPF,
  DKIM,
  DMARC,
});
const statuses = ({ status, findings: { SPF, DKIM, DMARC } }: DomainState) => [
  status,
  SPF.status,
  DKIM.status,
  DMARC.status,
];
const verified = afterCheck(newState(), verdicts(right), 1_000);

test('a new domain is pending in all its parts and was never checked', () => {
  const state = newState();
  assert.deepEqual(statuses(state), ['pending', 'pending', 'pending', 'pending']);
  assert.deepEqual(state.findings.DKIM, { status: 'pending', lastCheckedAt: null, found: [], error: null });
  assert.equal(maySend(state, 0), false);
});

test('three right records make it verified', () => {
  assert.deepEqual(statuses(verified), ['verified', 'verified', 'verified', 'verified']);
  assert.deepEqual([verified.verifiedAt, verified.failingSince], [1_000, null]);
  assert.deepEqual(verified.findings.SPF, {
    status: 'verified',
    lastCheckedAt: 1_000,
    found: ['right'],
    error: null,
  });
  assert.equal(maySend(verified, 1e15), true);
});

test('until then it stays pending: what is absent is pending, what is wrong has failed, what is unknown is as before', () => {
  const state = afterCheck(newState(), verdicts(absent, wrong, unknown), 1_000);
  assert.deepEqual(statuses(state), ['pending', 'pending', 'failed', 'pending']);
  assert.deepEqual([state.verifiedAt, state.failingSince], [null, null]);
  assert.deepEqual(
    Object.values(state.findings).map((finding) => [finding.found, finding.error, finding.lastCheckedAt]),
    [
      [[], 'absent', 1_000],
      [['wrong'], 'wrong', 1_000],
      [[], 'unknown', 1_000],
    ],
  );
  const next = afterCheck(state, verdicts(right, unknown, absent), 2_000);
  assert.deepEqual(statuses(next), ['pending', 'verified', 'failed', 'pending']);
  assert.deepEqual(statuses(afterCheck(next, verdicts(absent), 3_000)), [
    'pending',
    'pending',
    'verified',
    'verified',
  ]);
});

test('records seen right at different times add up', () => {
  const first = afterCheck(newState(), verdicts(right, absent, right), 1_000);
  const second = afterCheck(first, verdicts(unknown, right, right), 2_000);
  assert.equal(second.status, 'verified');
  assert.equal(second.verifiedAt, 2_000);
});

test('a failing DNS never downgrades, and does not count as having seen the records', () => {
  const state = afterCheck(verified, verdicts(unknown, unknown, unknown), 5_000);
  assert.deepEqual(statuses(state), statuses(verified));
  assert.deepEqual([state.verifiedAt, state.failingSince], [1_000, null]);
  assert.equal(state.findings.SPF.error, 'unknown');
  assert.equal(afterCheck(verified, verdicts(right), 5_000).verifiedAt, 5_000);
});

for (const lapse of [absent, wrong]) {
  test(`a verified domain with a record that is ${lapse.kind} sends for 72 hours more`, () => {
    const lapsed = afterCheck(verified, verdicts(lapse), 9_000_000_000);
    assert.deepEqual(statuses(lapsed), ['temporary_failure', 'temporary_failure', 'verified', 'verified']);
    assert.deepEqual([lapsed.verifiedAt, lapsed.failingSince], [1_000, 9_000_000_000]);
    assert.equal(maySend(lapsed, 9_000_000_000 + GRACE_MS - 1), true);
    assert.equal(maySend(lapsed, 9_000_000_000 + GRACE_MS), false);

    const later = afterCheck(lapsed, verdicts(lapse, lapse), 9_000_000_000 + GRACE_MS - 1);
    assert.deepEqual(statuses(later), [
      'temporary_failure',
      'temporary_failure',
      'temporary_failure',
      'verified',
    ]);
    assert.equal(later.failingSince, 9_000_000_000);

    const over = afterCheck(later, verdicts(lapse, unknown), 9_000_000_000 + GRACE_MS);
    assert.deepEqual(statuses(over), ['failed', 'failed', 'temporary_failure', 'verified']);
    assert.equal(maySend(over, 9_000_000_000 + GRACE_MS), false);

    const unheard = afterCheck(over, verdicts(unknown, unknown, unknown), 9_000_000_000 + 2 * GRACE_MS);
    assert.deepEqual(statuses(unheard), statuses(over));

    const whole = afterCheck(over, verdicts(right), 9_000_000_000 + 2 * GRACE_MS);
    assert.equal(whole.status, 'verified');
    assert.deepEqual([whole.verifiedAt, whole.failingSince], [9_000_000_000 + 2 * GRACE_MS, null]);
  });
}

test('silence of DNS in the grace period does not fail the domain, but does not lengthen the grace either', () => {
  const lapsed = afterCheck(verified, verdicts(absent), 2_000);
  const silent = afterCheck(lapsed, verdicts(unknown, unknown, unknown), 2_000 + GRACE_MS);
  assert.equal(silent.status, 'temporary_failure');
  assert.equal(maySend(silent, 2_000 + GRACE_MS), false);
});
