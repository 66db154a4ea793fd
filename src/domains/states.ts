/**
 * The states of a domain and of its records (api.md 1.4): what a check makes of them, and when a domain may send. Pure.
 * A domain that was never whole is `pending` however often it is checked; one that was goes through 72 hours of
 * `temporary_failure`, in which it still sends, before it is `failed`.
 */
import type { DomainRow, DomainStatus } from '../db/tables.ts';
import type { Verdict, Verdicts } from './check.ts';
import { RECORD_KINDS, type RecordKind } from './records.ts';

/** What the last check found of one record. */
export type Finding = {
  status: DomainStatus;
  /** Epoch milliseconds; null: never checked. */
  lastCheckedAt: number | null;
  found: string[];
  error: string | null;
};

export type Findings = Record<RecordKind, Finding>;

export type DomainState = Pick<DomainRow, 'status' | 'verifiedAt' | 'failingSince'> & { findings: Findings };

/** api.md 1.4: a lapse of a record is more often a slip than a farewell. */
export const GRACE_MS = 72 * 3_600_000;

export function newState(): DomainState {
  const finding = (): Finding => ({ status: 'pending', lastCheckedAt: null, found: [], error: null });
  const findings = { SPF: finding(), DKIM: finding(), DMARC: finding() };
  return { status: 'pending', verifiedAt: null, failingSince: null, findings };
}

/** What is queued was accepted already; this is for new mail. */
export function maySend(domain: Pick<DomainRow, 'status' | 'failingSince'>, now: number): boolean {
  if (domain.status === 'verified') return true;
  return domain.status === 'temporary_failure' && !isGraceOver(domain, now);
}

export function afterCheck(before: DomainState, verdicts: Verdicts, now: number): DomainState {
  const find = (kind: RecordKind): Finding => ({
    status: recordStatus(before, kind, verdicts[kind], now),
    lastCheckedAt: now,
    ...evidence(verdicts[kind]),
  });
  const findings: Findings = { SPF: find('SPF'), DKIM: find('DKIM'), DMARC: find('DMARC') };
  const isEvery = (status: DomainStatus) => RECORD_KINDS.every((kind) => findings[kind].status === status);
  if (isEvery('verified')) {
    const isSeen = RECORD_KINDS.every((kind) => verdicts[kind].kind === 'verified');
    const verifiedAt = isSeen || before.status !== 'verified' ? now : before.verifiedAt;
    return { status: 'verified', verifiedAt, failingSince: null, findings };
  }
  if (before.verifiedAt === null)
    return { status: 'pending', verifiedAt: null, failingSince: null, findings };
  const hasFailed = RECORD_KINDS.some((kind) => findings[kind].status === 'failed');
  return {
    status: hasFailed ? 'failed' : 'temporary_failure',
    verifiedAt: before.verifiedAt,
    failingSince: before.failingSince ?? now,
    findings,
  };
}

function recordStatus(before: DomainState, kind: RecordKind, verdict: Verdict, now: number): DomainStatus {
  if (verdict.kind === 'verified') return 'verified';
  // SERVFAIL and timeouts never downgrade.
  if (verdict.kind === 'unknown') return before.findings[kind].status;
  if (before.verifiedAt !== null) return isGraceOver(before, now) ? 'failed' : 'temporary_failure';
  return verdict.kind === 'absent' ? 'pending' : 'failed';
}

function isGraceOver({ failingSince }: Pick<DomainRow, 'failingSince'>, now: number): boolean {
  return failingSince !== null && now - failingSince >= GRACE_MS;
}

function evidence(verdict: Verdict): Pick<Finding, 'found' | 'error'> {
  switch (verdict.kind) {
    case 'verified':
      return { found: verdict.found, error: null };
    case 'wrong':
      return { found: verdict.found, error: verdict.error };
    case 'absent':
    case 'unknown':
      return { found: [], error: verdict.error };
  }
}
