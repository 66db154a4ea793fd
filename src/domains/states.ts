/**
 * The states of a domain and of its records: how a check changes them, when the next check is due, and when a domain
 * may send. This module has no side effects.
 *
 * `pending`: records are checked often for 72 hours, and then the domain is `failed`. `verified`: records are checked
 * daily; when one is missing, the domain becomes `temporary_failure`. In that state it still sends for 72 hours, and
 * then it is `failed`. A failed domain is not checked until a caller requests its verification, which makes it
 * `pending` again. Only an answer of DNS changes a domain for the worse: without answers, deadlines pass without
 * effect.
 */
import type { DomainRow, DomainStatus } from '../db/tables.ts';
import type { ParentPolicy } from '../mail/dmarc/policy-records.ts';
import { DAY_MS } from '../system/clock.ts';
import type { Verdict, Verdicts } from './check.ts';
import { RECORD_KINDS, type RecordKind } from './records.ts';

/** The result of the last check of one record. */
export type Finding = {
  status: DomainStatus;
  /** Time of the last check in Unix milliseconds; null when it was never checked. */
  lastCheckedAt: number | null;
  found: string[];
  error: string | null;
  /** Time of the last check that found an optional record right, while it is believed to be. */
  goodAt?: number;
  /** DMARC policy that a parent sets for the domain, in the finding about DMARC; absent when none does. */
  parentPolicy?: ParentPolicy;
};

/**
 * `TRACKING` is null while no tracking host is set. `TRACKING`, `RETURN_PATH`, `MX` and `CLIENTS` do not affect the status of the
 * domain.
 */
export type Findings = Record<RecordKind, Finding> & {
  TRACKING: Finding | null;
  RETURN_PATH: Finding;
  MX: Finding;
  /** Findings about the other optional records, by `moreRecordKey`. Those for mail programs were the first of them. */
  CLIENTS?: Readonly<Record<string, Finding>>;
};

export type DomainState = Pick<
  DomainRow,
  | 'status'
  | 'verifiedAt'
  | 'verifiedSince'
  | 'failingSince'
  | 'checksSince'
  | 'nextCheckAt'
  | 'trackingSubdomain'
> & { findings: Findings };

export type CheckMoment = {
  now: number;
  /** True when a caller requested the check, which starts the search for records again. */
  isAsked: boolean;
  /**
   * Random number of at least 0 and below 1. It moves the next check, so that the checks of many domains spread out.
   */
  spread: number;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Time for which a verified domain still sends while a record is missing. Most missing records are mistakes. */
export const GRACE_MS = 72 * HOUR_MS;
/** Time for which records are searched that have never been right. */
export const SEARCH_MS = 72 * HOUR_MS;
/** Time in which a new domain is checked every 5 minutes. Later checks come every 30 minutes. */
const EAGER_SEARCH_MS = HOUR_MS;
const EAGER_INTERVAL_MS = 5 * MINUTE_MS;
const SEARCH_INTERVAL_MS = 30 * MINUTE_MS;
/** Interval of checks while a record of a verified domain is missing. */
const LAPSE_INTERVAL_MS = HOUR_MS;
/**
 * Interval of checks of a tracking host that was found, half of the time for which a result holds, so that one check without an
 * answer does no harm.
 */
const HOST_INTERVAL_MS = DAY_MS / 2;
/** Intervals are shortened by up to this share, never lengthened. */
const SPREAD_SHARE = 0.1;

/** Returns the state of a new domain. */
export function newState(now: number, spread: number, parentPolicy?: ParentPolicy): DomainState {
  const state: DomainState = {
    status: 'pending',
    verifiedAt: null,
    verifiedSince: null,
    failingSince: null,
    checksSince: now,
    nextCheckAt: null,
    trackingSubdomain: null,
    findings: {
      SPF: newFinding(),
      DKIM: newFinding(),
      DMARC: { ...newFinding(), ...(parentPolicy && { parentPolicy }) },
      TRACKING: null,
      RETURN_PATH: newFinding(),
      MX: newFinding(),
    },
  };
  return { ...state, nextCheckAt: nextCheckAt(state, now, spread) };
}

/** Returns the state with another tracking host, or without one. The finding about the earlier host is dropped. */
export function withTracking(
  before: DomainState,
  trackingSubdomain: string | null,
  { now, spread }: Pick<CheckMoment, 'now' | 'spread'>,
): DomainState {
  const state: DomainState = {
    ...before,
    trackingSubdomain,
    // A new tracking host does not extend a search for the other records.
    checksSince: before.status === 'verified' ? now : before.checksSince,
    findings: { ...before.findings, TRACKING: trackingSubdomain === null ? null : newFinding() },
  };
  return { ...state, nextCheckAt: nextCheckAt(state, now, spread) };
}

/** Returns true when the domain may send new mail, or scheduled mail that becomes due. Retries are not checked. */
export function maySend(domain: Pick<DomainRow, 'status' | 'failingSince'>, now: number): boolean {
  if (domain.status === 'verified') return true;
  return domain.status === 'temporary_failure' && !isGraceOver(domain, now);
}

/**
 * Returns the earliest start of a failure, in Unix milliseconds, that is still within its grace period at `now`. With the
 * condition `failingSince >= earliestGrace(now)`, a statement decides as `maySend` does.
 */
export function earliestGrace(now: number): number {
  return now - GRACE_MS + 1;
}

/**
 * Returns true when mail is sent with the domain's own return path. The records of a failed domain are not checked, so
 * its last finding proves nothing.
 */
export function usesReturnPath({ status, findings }: Pick<DomainState, 'status' | 'findings'>): boolean {
  return status !== 'failed' && findings.RETURN_PATH.status === 'verified';
}

/**
 * Returns the tracking host that was found, with the time of the last check that found it; both null when none was. The host of a
 * failed domain is not checked, and that of a domain that is not verified may belong to somebody else: its CNAME leads to us
 * already when another tenant uses it.
 */
export function trackingHostOf({
  status,
  trackingSubdomain,
  findings: { TRACKING },
}: Pick<DomainState, 'status' | 'findings' | 'trackingSubdomain'>): Pick<
  DomainRow,
  'trackingHost' | 'trackingCheckedAt'
> {
  const isOwned = status === 'verified' || status === 'temporary_failure';
  if (!isOwned || TRACKING?.status !== 'verified' || TRACKING.goodAt === undefined)
    return { trackingHost: null, trackingCheckedAt: null };
  return { trackingHost: trackingSubdomain, trackingCheckedAt: TRACKING.goodAt };
}

/** Returns the state after a check. */
export function afterCheck(domain: DomainState, verdicts: Verdicts, moment: CheckMoment): DomainState {
  const { now } = moment;
  const before = moment.isAsked ? searchedAnew(domain, now) : domain;
  const find = (kind: RecordKind): Finding => ({
    status: recordStatus({ before, now }, kind, verdicts[kind]),
    lastCheckedAt: now,
    ...evidence(verdicts[kind]),
  });
  const findings: Findings = {
    SPF: find('SPF'),
    DKIM: find('DKIM'),
    DMARC: { ...find('DMARC'), ...parentPolicyOf(before.findings.DMARC, verdicts.parentPolicy) },
    TRACKING: findTracking(before, verdicts.tracking, now),
    RETURN_PATH: withoutGrace(before.findings.RETURN_PATH, verdicts.returnPath, now),
    MX: withoutGrace(before.findings.MX, verdicts.mx, now),
    CLIENTS: findMore(before.findings.CLIENTS, verdicts.more, now),
  };
  const status = domainStatus({ before, now }, findings, verdicts);
  const state: DomainState = {
    ...status,
    verifiedSince: verifiedSince({ before, now }, status),
    checksSince: before.checksSince,
    nextCheckAt: null,
    trackingSubdomain: before.trackingSubdomain,
    findings,
  };
  return { ...state, nextCheckAt: nextCheckAt(state, now, moment.spread) };
}

function searchedAnew(domain: DomainState, now: number): DomainState {
  if (domain.status !== 'failed') return { ...domain, checksSince: now };
  // A failed domain has not been checked since it failed, so earlier findings must be confirmed.
  const findings: Findings = {
    ...domain.findings,
    SPF: newFinding(),
    DKIM: newFinding(),
    DMARC: newFinding(),
    RETURN_PATH: newFinding(),
    MX: newFinding(),
    CLIENTS: {},
  };
  return { ...domain, checksSince: now, status: 'pending', failingSince: null, findings };
}

/** The state before a check, and the time of the check in Unix milliseconds. */
type CheckStart = { before: DomainState; now: number };

function recordStatus({ before, now }: CheckStart, kind: RecordKind, verdict: Verdict): DomainStatus {
  if (verdict.kind === 'verified') return 'verified';
  // SERVFAIL and timeouts never make a status worse.
  if (verdict.kind === 'unknown') return before.findings[kind].status;
  switch (before.status) {
    case 'pending':
      return verdict.kind === 'absent' && !isSearchOver(before, now) ? 'pending' : 'failed';
    case 'verified':
    case 'temporary_failure':
      return isGraceOver(before, now) ? 'failed' : 'temporary_failure';
    case 'failed':
      return 'failed';
  }
}

function domainStatus(
  { before, now }: CheckStart,
  findings: Findings,
  verdicts: Verdicts,
): Pick<DomainState, 'status' | 'verifiedAt' | 'failingSince'> {
  const { verifiedAt, failingSince } = before;
  if (RECORD_KINDS.every((kind) => findings[kind].status === 'verified')) {
    const isSeen = RECORD_KINDS.every((kind) => verdicts[kind].kind === 'verified');
    const isNew = isSeen || before.status !== 'verified';
    return { status: 'verified', verifiedAt: isNew ? now : verifiedAt, failingSince: null };
  }
  switch (before.status) {
    case 'pending': {
      const isMissing = RECORD_KINDS.some((kind) => ['absent', 'wrong'].includes(verdicts[kind].kind));
      const status = isMissing && isSearchOver(before, now) ? 'failed' : 'pending';
      return { status, verifiedAt, failingSince: null };
    }
    case 'verified':
    case 'temporary_failure': {
      const hasFailed = RECORD_KINDS.some((kind) => findings[kind].status === 'failed');
      const status = hasFailed ? 'failed' : 'temporary_failure';
      return { status, verifiedAt, failingSince: failingSince ?? now };
    }
    case 'failed':
      return { status: 'failed', verifiedAt, failingSince };
  }
}

/**
 * Returns the time since which the verification has stood. A verification whose grace period was over has lapsed, so it starts
 * anew even when its records are found again before the domain has failed.
 */
function verifiedSince(
  { before, now }: CheckStart,
  after: Pick<DomainState, 'status' | 'failingSince'>,
): number | null {
  if (!maySend(after, now)) return null;
  return (maySend(before, now) ? before.verifiedSince : null) ?? now;
}

/** Returns the parent's policy as part of a finding. Without an answer of DNS, the one that is known stays. */
function parentPolicyOf(known: Finding, found: Verdicts['parentPolicy']): Pick<Finding, 'parentPolicy'> {
  const parentPolicy = found === undefined ? known.parentPolicy : found;
  return parentPolicy ? { parentPolicy } : {};
}

function findTracking(before: DomainState, tracking: Verdicts['tracking'], now: number): Finding | null {
  const known = before.findings.TRACKING;
  // The tracking host was changed while DNS was asked about the earlier one.
  if (!known || tracking?.host !== before.trackingSubdomain) return known;
  return withoutGrace(known, tracking.verdict, now);
}

/** Records that the domain needs no longer are forgotten. */
function findMore(
  known: Findings['CLIENTS'] = {},
  more: Verdicts['more'],
  now: number,
): NonNullable<Findings['CLIENTS']> {
  if (!more) return known;
  return Object.fromEntries(
    Object.entries(more).map(([key, verdict]) => [
      key,
      withoutGrace(known[key] ?? newFinding(), verdict, now),
    ]),
  );
}

/**
 * Returns the finding about an optional record. It has no grace period: a tracking host that leads elsewhere cannot
 * track, receivers refuse a return path whose domain does not exist, and MX records that lead elsewhere bring no mail,
 * while sending needs none of the three.
 */
function withoutGrace(known: Finding, verdict: Verdict | null, now: number): Finding {
  if (verdict === null) return known;
  const status = { verified: 'verified', absent: 'pending', wrong: 'failed', unknown: known.status } as const;
  const goodAt = { verified: now, absent: undefined, wrong: undefined, unknown: known.goodAt }[verdict.kind];
  const good = goodAt === undefined ? {} : { goodAt };
  return { status: status[verdict.kind], lastCheckedAt: now, ...evidence(verdict), ...good };
}

/**
 * Returns the time of the next check in Unix milliseconds; null when the domain is checked only on request. A check
 * is never later than a deadline of the state.
 */
function nextCheckAt(state: DomainState, now: number, spread: number): number | null {
  const { intervalMs, deadline } = pace(state, now);
  if (intervalMs === null) return null;
  const due = now + Math.round(intervalMs * (1 - SPREAD_SHARE * spread));
  return deadline !== null && deadline > now ? Math.min(due, deadline) : due;
}

function pace(state: DomainState, now: number): { intervalMs: number | null; deadline: number | null } {
  switch (state.status) {
    case 'pending':
      return { intervalMs: searchInterval(state, now), deadline: state.checksSince + SEARCH_MS };
    case 'verified': {
      const { TRACKING: host } = state.findings;
      if (host === null) return { intervalMs: DAY_MS, deadline: null };
      const isFound = host.status === 'verified';
      return { intervalMs: isFound ? HOST_INTERVAL_MS : searchInterval(state, now), deadline: null };
    }
    case 'temporary_failure': {
      const intervalMs = isGraceOver(state, now) ? DAY_MS : LAPSE_INTERVAL_MS;
      return { intervalMs, deadline: (state.failingSince ?? now) + GRACE_MS };
    }
    case 'failed':
      return { intervalMs: null, deadline: null };
  }
}

/**
 * Returns the interval of checks during a search. After the end of the search the domain is checked daily: either DNS
 * did not answer, or only the tracking host is missing.
 */
function searchInterval({ checksSince }: Pick<DomainState, 'checksSince'>, now: number): number {
  const elapsedMs = now - checksSince;
  if (elapsedMs < EAGER_SEARCH_MS) return EAGER_INTERVAL_MS;
  return elapsedMs < SEARCH_MS ? SEARCH_INTERVAL_MS : DAY_MS;
}

function isSearchOver({ checksSince }: Pick<DomainState, 'checksSince'>, now: number): boolean {
  return now - checksSince >= SEARCH_MS;
}

function isGraceOver({ failingSince }: Pick<DomainRow, 'failingSince'>, now: number): boolean {
  return failingSince !== null && now - failingSince >= GRACE_MS;
}

/** Returns the finding about a record that was never checked. */
export function newFinding(): Finding {
  return { status: 'pending', lastCheckedAt: null, found: [], error: null };
}

function evidence(verdict: Verdict): Pick<Finding, 'found' | 'error'> {
  switch (verdict.kind) {
    case 'verified':
      return { found: verdict.found, error: null };
    case 'absent':
    case 'wrong':
      return { found: verdict.found, error: verdict.error };
    case 'unknown':
      return { found: [], error: verdict.error };
  }
}
