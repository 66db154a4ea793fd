import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Verdict, Verdicts } from '../../src/domains/check.ts';
import {
  afterCheck,
  type DomainState,
  earliestGrace,
  GRACE_MS,
  maySend,
  newState,
  SEARCH_MS,
  trackingHostOf,
  usesReturnPath,
  withTracking,
} from '../../src/domains/states.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOST = 'links.example.com';

const right: Verdict = { kind: 'verified', found: ['right'] };
const absent: Verdict = { kind: 'absent', found: [], error: 'absent' };
const wrong: Verdict = { kind: 'wrong', found: ['wrong'], error: 'wrong' };
const unknown: Verdict = { kind: 'unknown', error: 'unknown' };

const verdicts = (SPF: Verdict, DKIM: Verdict = right, DMARC: Verdict = right): Verdicts => ({
  ...{ SPF, DKIM, DMARC },
  ...{ tracking: null, returnPath: absent, mx: absent },
});
const silence = verdicts(unknown, unknown, unknown);
/** A check of the daemon's own accord. */
const check = (state: DomainState, found: Verdicts, now: number) =>
  afterCheck(state, found, { now, isAsked: false, spread: 0 });
/** One that somebody asked for. */
const ask = (state: DomainState, found: Verdicts, now: number) =>
  afterCheck(state, found, { now, isAsked: true, spread: 0 });
const statuses = ({ status, findings: { SPF, DKIM, DMARC } }: DomainState) => [
  status,
  SPF.status,
  DKIM.status,
  DMARC.status,
];
const all = (status: string) => [status, status, status, status];
const verified = check(newState(0, 0), verdicts(right), 1_000);

test('a new domain is pending in all its parts and was never checked', () => {
  const state = newState(7, 0);
  assert.deepEqual(statuses(state), all('pending'));
  assert.deepEqual(state.findings.DKIM, { status: 'pending', lastCheckedAt: null, found: [], error: null });
  assert.deepEqual([state.findings.TRACKING, state.trackingSubdomain], [null, null]);
  assert.deepEqual([state.checksSince, state.nextCheckAt], [7, 7 + 5 * MINUTE_MS]);
  assert.equal(maySend(state, 0), false);
});

test('three right records make it verified', () => {
  assert.deepEqual(statuses(verified), all('verified'));
  assert.deepEqual([verified.verifiedAt, verified.failingSince], [1_000, null]);
  assert.deepEqual(verified.findings.SPF, {
    status: 'verified',
    lastCheckedAt: 1_000,
    found: ['right'],
    error: null,
  });
  assert.equal(maySend(verified, 1e15), true);
});

test('a domain stays pending until all its records are right: absent ones are pending, wrong ones failed, unknown ones as before', () => {
  const state = check(newState(0, 0), verdicts(absent, wrong, unknown), 1_000);
  assert.deepEqual(statuses(state), ['pending', 'pending', 'failed', 'pending']);
  assert.deepEqual([state.verifiedAt, state.failingSince], [null, null]);
  const { SPF, DKIM, DMARC } = state.findings;
  assert.deepEqual(
    [SPF, DKIM, DMARC].map((finding) => [finding.found, finding.error, finding.lastCheckedAt]),
    [
      [[], 'absent', 1_000],
      [['wrong'], 'wrong', 1_000],
      [[], 'unknown', 1_000],
    ],
  );
  const next = check(state, verdicts(right, unknown, absent), 2_000);
  assert.deepEqual(statuses(next), ['pending', 'verified', 'failed', 'pending']);
  const last = check(next, verdicts(absent), 3_000);
  assert.deepEqual(statuses(last), ['pending', 'pending', 'verified', 'verified']);
});

test('the finding shows a record whose target does not exist yet', () => {
  const leading: Verdict = { kind: 'absent', found: ['target'], error: 'no key there' };
  const { DKIM } = check(newState(0, 0), verdicts(right, leading), 1).findings;
  assert.deepEqual([DKIM.status, DKIM.found, DKIM.error], ['pending', ['target'], 'no key there']);
});

test('records seen right at different times add up', () => {
  const first = check(newState(0, 0), verdicts(right, absent, right), 1_000);
  const second = check(first, verdicts(unknown, right, right), 2_000);
  assert.deepEqual([second.status, second.verifiedAt], ['verified', 2_000]);
});

test('a failing DNS never downgrades, and does not count as having seen the records', () => {
  const state = check(verified, silence, 5_000);
  assert.deepEqual(statuses(state), statuses(verified));
  assert.deepEqual([state.verifiedAt, state.failingSince], [1_000, null]);
  assert.equal(state.findings.SPF.error, 'unknown');
  assert.equal(check(verified, verdicts(right), 5_000).verifiedAt, 5_000);
});

test('new records are looked for every 5 minutes for an hour, then every 30 minutes, to the end of 72 hours', () => {
  let state = newState(0, 0);
  const times: number[] = [];
  while (state.nextCheckAt !== null) {
    times.push(state.nextCheckAt);
    state = check(state, verdicts(absent, right, right), state.nextCheckAt);
    if (state.status === 'pending') assert.ok(times.length < 1_000);
  }
  const early = Array.from({ length: 12 }, (_, index) => (index + 1) * 5 * MINUTE_MS);
  const late = Array.from({ length: 142 }, (_, index) => HOUR_MS + (index + 1) * 30 * MINUTE_MS);
  assert.deepEqual(times, [...early, ...late]);
  assert.equal(times.at(-1), SEARCH_MS);
  assert.deepEqual(statuses(state), ['failed', 'failed', 'verified', 'verified']);
  assert.equal(maySend(state, SEARCH_MS), false);
});

test('the search ends at its moment however the intervals fall, and not before', () => {
  const early = check(newState(0, 0), verdicts(absent), SEARCH_MS - 1);
  assert.deepEqual([early.status, early.nextCheckAt], ['pending', SEARCH_MS]);
  const near = check(newState(0, 0), verdicts(absent), SEARCH_MS - 10 * MINUTE_MS);
  assert.equal(near.nextCheckAt, SEARCH_MS);
  assert.equal(check(near, verdicts(absent), SEARCH_MS).status, 'failed');
  assert.equal(check(near, verdicts(wrong), SEARCH_MS).status, 'failed');
  assert.equal(check(near, verdicts(right), SEARCH_MS).status, 'verified');
});

test('silence of DNS does not fail a pending domain; it is asked again every day, and the first answer decides', () => {
  const silent = check(newState(0, 0), verdicts(unknown, right, right), SEARCH_MS);
  assert.deepEqual(statuses(silent), ['pending', 'pending', 'verified', 'verified']);
  assert.equal(silent.nextCheckAt, SEARCH_MS + DAY_MS);
  assert.equal(check(silent, verdicts(absent), SEARCH_MS + DAY_MS).status, 'failed');
  assert.equal(check(silent, verdicts(right), SEARCH_MS + DAY_MS).status, 'verified');
});

test('a failed domain is left alone until somebody asks, and then searched for anew', () => {
  const failed = check(newState(0, 0), verdicts(absent), SEARCH_MS);
  assert.deepEqual([failed.status, failed.nextCheckAt], ['failed', null]);
  // A check that was under way when it failed.
  assert.equal(check(failed, verdicts(absent), SEARCH_MS + 1).status, 'failed');
  const now = 10 * SEARCH_MS;
  const again = ask(failed, verdicts(absent, right, right), now);
  assert.deepEqual(statuses(again), ['pending', 'pending', 'verified', 'verified']);
  assert.deepEqual([again.checksSince, again.nextCheckAt], [now, now + 5 * MINUTE_MS]);
  assert.equal(check(again, verdicts(absent), now + SEARCH_MS - 1).status, 'pending');
  assert.equal(check(again, verdicts(absent), now + SEARCH_MS).status, 'failed');
  assert.equal(ask(failed, verdicts(right), now).status, 'verified');
});

test('records that were correct before a domain failed must be found again', () => {
  const failed = check(newState(0, 0), verdicts(absent, right, right), SEARCH_MS);
  const again = ask(failed, verdicts(right, unknown, right), 10 * SEARCH_MS);
  assert.deepEqual(statuses(again), ['pending', 'verified', 'pending', 'verified']);
});

test('asking begins the search of a pending domain anew, and lengthens no grace', () => {
  const asked = ask(newState(0, 0), verdicts(absent), SEARCH_MS);
  assert.deepEqual([asked.status, asked.nextCheckAt], ['pending', SEARCH_MS + 5 * MINUTE_MS]);
  const lapsed = check(verified, verdicts(absent), 2_000);
  const later = ask(lapsed, verdicts(absent), 2_000 + GRACE_MS - 1);
  assert.deepEqual([later.status, later.failingSince], ['temporary_failure', 2_000]);
  assert.equal(ask(later, verdicts(absent), 2_000 + GRACE_MS).status, 'failed');
});

for (const lapse of [absent, wrong]) {
  test(`a verified domain with a record that is ${lapse.kind} sends for 72 hours more`, () => {
    const start = 9_000_000_000;
    const lapsed = check(verified, verdicts(lapse), start);
    assert.deepEqual(statuses(lapsed), ['temporary_failure', 'temporary_failure', 'verified', 'verified']);
    assert.deepEqual([lapsed.verifiedAt, lapsed.failingSince], [1_000, start]);
    assert.equal(maySend(lapsed, start + GRACE_MS - 1), true);
    assert.equal(maySend(lapsed, start + GRACE_MS), false);

    const later = check(lapsed, verdicts(lapse, lapse), start + GRACE_MS - 1);
    assert.deepEqual(statuses(later), [
      ...['temporary_failure', 'temporary_failure', 'temporary_failure'],
      'verified',
    ]);
    assert.equal(later.failingSince, start);

    const over = check(later, verdicts(lapse, unknown), start + GRACE_MS);
    assert.deepEqual(statuses(over), ['failed', 'failed', 'temporary_failure', 'verified']);
    assert.equal(maySend(over, start + GRACE_MS), false);

    const unheard = check(over, silence, start + 2 * GRACE_MS);
    assert.deepEqual(statuses(unheard), statuses(over));

    const whole = ask(over, verdicts(right), start + 2 * GRACE_MS);
    assert.deepEqual(
      [whole.status, whole.verifiedAt, whole.failingSince],
      ['verified', start + 2 * GRACE_MS, null],
    );
  });
}

test('a domain that failed after its grace is pending again when asked for, and keeps when it was last whole', () => {
  const lapsed = check(verified, verdicts(absent), 2_000);
  const failed = check(lapsed, verdicts(absent), 2_000 + GRACE_MS);
  const again = ask(failed, verdicts(absent), 3_000 + GRACE_MS);
  assert.deepEqual([again.status, again.verifiedAt, again.failingSince], ['pending', 1_000, null]);
  assert.equal(maySend(again, 3_000 + GRACE_MS), false);
});

test('silence of DNS in the grace period does not fail the domain, but does not lengthen the grace either', () => {
  const lapsed = check(verified, verdicts(absent), 2_000);
  const silent = check(lapsed, silence, 2_000 + GRACE_MS);
  assert.equal(silent.status, 'temporary_failure');
  assert.equal(maySend(silent, 2_000 + GRACE_MS), false);
  assert.equal(silent.nextCheckAt, 2_000 + GRACE_MS + DAY_MS);
});

test('a lapse that ends is forgotten: the next one has 72 hours of its own', () => {
  const lapsed = check(verified, verdicts(absent), 2_000);
  const whole = check(lapsed, verdicts(right), 2_000 + GRACE_MS - 1);
  assert.deepEqual([whole.status, whole.failingSince], ['verified', null]);
  const next = check(whole, verdicts(absent), 5 * GRACE_MS);
  assert.deepEqual([next.status, next.failingSince], ['temporary_failure', 5 * GRACE_MS]);
});

test('a verified domain is looked at daily, a lapsed one hourly and at the very end of its grace', () => {
  assert.equal(verified.nextCheckAt, 1_000 + DAY_MS);
  const lapsed = check(verified, verdicts(absent), 2_000);
  assert.equal(lapsed.nextCheckAt, 2_000 + HOUR_MS);
  const end = 2_000 + GRACE_MS;
  assert.equal(check(lapsed, verdicts(absent), end - 1).nextCheckAt, end);
  assert.equal(check(lapsed, verdicts(absent), end).nextCheckAt, null);
});

test('spreading makes a check earlier, by at most a tenth, never later', () => {
  const next = (spread: number) =>
    afterCheck(verified, verdicts(right), { now: DAY_MS, isAsked: false, spread }).nextCheckAt;
  assert.equal(next(0), 2 * DAY_MS);
  assert.equal(next(0.5), 2 * DAY_MS - DAY_MS / 20);
  assert.equal(next(0.999_999_999), 2 * DAY_MS - DAY_MS / 10);
});

const tracked = (host: string, verdict: Verdict): Verdicts => ({
  ...verdicts(right),
  tracking: { host, verdict },
});
const withHost = withTracking(verified, HOST, { now: 5_000, spread: 0 });

test('a new tracking host is pending and looked for eagerly, and the domain stays verified without it', () => {
  assert.deepEqual(
    [withHost.status, withHost.findings.TRACKING?.status, withHost.trackingSubdomain],
    ['verified', 'pending', HOST],
  );
  assert.equal(withHost.nextCheckAt, 5_000 + 5 * MINUTE_MS);
  const missing = check(withHost, tracked(HOST, absent), 5_000 + 2 * HOUR_MS);
  assert.deepEqual([missing.status, missing.findings.TRACKING?.status], ['verified', 'pending']);
  assert.equal(missing.nextCheckAt, 5_000 + 2 * HOUR_MS + 30 * MINUTE_MS);
  const given = check(withHost, tracked(HOST, absent), 5_000 + SEARCH_MS);
  assert.deepEqual([given.status, given.nextCheckAt], ['verified', 5_000 + SEARCH_MS + DAY_MS]);
});

const NO_HOST = { trackingHost: null, trackingCheckedAt: null };

test('a tracking host has the states of what was found, with no grace', () => {
  const found = check(withHost, tracked(HOST, right), 6_000);
  assert.deepEqual(found.findings.TRACKING, {
    ...{ status: 'verified', lastCheckedAt: 6_000, found: ['right'], error: null, goodAt: 6_000 },
  });
  assert.equal(found.nextCheckAt, 6_000 + DAY_MS / 2);
  for (const [verdict, status] of [
    [unknown, 'verified'],
    [wrong, 'failed'],
    [absent, 'pending'],
  ] as const) {
    const next = check(found, tracked(HOST, verdict), 7_000);
    assert.deepEqual([next.findings.TRACKING?.status, next.status], [status, 'verified']);
    assert.equal(next.findings.TRACKING?.error, verdict.error);
    // Without an answer, the host is still the one that was found before.
    const host = status === 'verified' ? { trackingHost: HOST, trackingCheckedAt: 6_000 } : NO_HOST;
    assert.deepEqual(trackingHostOf(next), host);
  }
});

test('a finding about a tracking host that was changed or removed meanwhile is dropped', () => {
  const other = check(withHost, tracked('old.example.com', right), 6_000);
  assert.deepEqual(other.findings.TRACKING, withHost.findings.TRACKING);
  const unasked = check(withHost, verdicts(right), 6_000);
  assert.equal(unasked.findings.TRACKING?.status, 'pending');
  const none = withTracking(withHost, null, { now: 6_000, spread: 0 });
  assert.deepEqual([none.findings.TRACKING, none.trackingSubdomain], [null, null]);
  assert.equal(check(none, tracked(HOST, right), 7_000).findings.TRACKING, null);
});

test('a change of the tracking host neither prolongs a search nor makes a failed domain pending', () => {
  const pending = withTracking(newState(0, 0), HOST, { now: SEARCH_MS - 1, spread: 0 });
  assert.deepEqual([pending.checksSince, pending.nextCheckAt], [0, SEARCH_MS]);
  const failed = check(newState(0, 0), verdicts(absent), SEARCH_MS);
  assert.equal(withTracking(failed, HOST, { now: SEARCH_MS, spread: 0 }).nextCheckAt, null);
});

const returning = (returnPath: Verdict | null, SPF: Verdict = right): Verdicts => ({
  ...verdicts(SPF),
  returnPath,
});

test('a return path follows each finding without a grace period, and does not affect the status or the next check', () => {
  assert.deepEqual([verified.findings.RETURN_PATH.status, usesReturnPath(verified)], ['pending', false]);
  const found = check(verified, returning(right), 6_000);
  assert.equal(usesReturnPath(found), true);
  for (const [verdict, status] of [
    [right, 'verified'],
    [unknown, 'verified'],
    [wrong, 'failed'],
    [absent, 'pending'],
  ] as const) {
    const next = check(found, returning(verdict), 7_000);
    assert.deepEqual([next.findings.RETURN_PATH.status, next.status], [status, 'verified']);
    assert.equal(usesReturnPath(next), status === 'verified');
    assert.equal(next.nextCheckAt, 7_000 + DAY_MS);
  }
  const untold = check(found, returning(null), 7_000);
  assert.deepEqual(untold.findings.RETURN_PATH, found.findings.RETURN_PATH);
});

test('the return path is used while another record has lapsed, but not for a domain that has failed', () => {
  const lapsed = check(verified, returning(right, absent), 2_000);
  assert.deepEqual([lapsed.status, usesReturnPath(lapsed)], ['temporary_failure', true]);
  const failed = check(lapsed, returning(right, absent), 2_000 + GRACE_MS);
  assert.deepEqual([failed.status, usesReturnPath(failed)], ['failed', false]);
  const again = ask(failed, returning(unknown, absent), 3_000 + GRACE_MS);
  assert.deepEqual(
    [again.status, again.findings.RETURN_PATH.status, usesReturnPath(again)],
    ['pending', 'pending', false],
  );
});

const since = (state: DomainState) => state.verifiedSince;

test('a verification stands from its first check, through each later one and a lapse within its grace period', () => {
  assert.deepEqual([since(newState(0, 0)), since(verified)], [null, 1_000]);
  assert.equal(since(check(newState(0, 0), verdicts(absent), 1_000)), null);
  const later = ask(check(verified, verdicts(right), 5_000), verdicts(right), 6_000);
  assert.deepEqual([since(later), later.verifiedAt], [1_000, 6_000]);
  const lapsed = check(later, verdicts(absent), 7_000);
  assert.equal(since(lapsed), 1_000);
  assert.equal(since(check(lapsed, silence, 7_000 + GRACE_MS - 1)), 1_000);
  assert.equal(since(check(lapsed, verdicts(right), 7_000 + GRACE_MS - 1)), 1_000);
  assert.equal(since(withTracking(later, HOST, { now: 8_000, spread: 0 })), 1_000);
});

test('a verification ends with its grace period, and one that returns stands anew', () => {
  const lapsed = check(verified, verdicts(absent), 2_000);
  const end = 2_000 + GRACE_MS;
  assert.equal(since(check(lapsed, silence, end)), null);
  assert.equal(since(check(lapsed, verdicts(right), end)), end);
  const failed = check(lapsed, verdicts(absent), end);
  assert.deepEqual([failed.status, since(failed)], ['failed', null]);
  assert.equal(since(ask(failed, verdicts(absent), end + 1)), null);
  assert.equal(since(ask(failed, verdicts(right), end + 1)), end + 1);
});

test('a failure is within its grace period exactly while the domain may send', () => {
  const now = 9_000_000_000;
  for (const failingSince of [now - GRACE_MS - 1, now - GRACE_MS, now - GRACE_MS + 1, now]) {
    const state = { status: 'temporary_failure', failingSince } as const;
    assert.equal(failingSince >= earliestGrace(now), maySend(state, now), String(failingSince - now));
  }
});

test('MX records follow each finding without a grace period, and affect neither the status nor the next check', () => {
  const bringing = (mx: Verdict): Verdicts => ({ ...verdicts(right), mx });
  assert.equal(verified.findings.MX.status, 'pending');
  const found = check(verified, bringing(right), 6_000);
  for (const [verdict, status] of [
    [right, 'verified'],
    [unknown, 'verified'],
    [absent, 'pending'],
  ] as const) {
    const next = check(found, bringing(verdict), 7_000);
    assert.deepEqual([next.findings.MX.status, next.status], [status, 'verified']);
    assert.equal(next.nextCheckAt, 7_000 + DAY_MS);
  }
  const failed = check(check(found, verdicts(absent), 2_000), verdicts(absent), 2_000 + GRACE_MS);
  assert.equal(ask(failed, { ...silence, mx: unknown }, 3_000 + GRACE_MS).findings.MX.status, 'pending');
});
