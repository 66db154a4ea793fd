/**
 * Counts the emails of a calendar month (specification 8). The write that accepts emails counts them, so that neither
 * concurrent requests nor a crash miscount. A write that is refused later undoes its count.
 */
import type { Tx } from '../db/operation.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { isoTime } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { addUsage, getQuota, type Quota } from './store.ts';

type Charge = { now: number; emails: number };

/**
 * Counts emails against the plan of their tenant, all or none; when it throws, it has written nothing. Test mode and
 * mail to the simulator alone are not counted.
 *
 * @param charge.now Unix milliseconds; the month is that of UTC
 * @throws AppError quota_exceeded
 */
export async function chargeQuota(tx: Tx, tenantId: TenantRow['id'], charge: Charge): Promise<void> {
  const { monthlyEmails } = await requireQuota(tx, tenantId, charge);
  if (monthlyEmails === null) return;
  await addUsage(tx, tenantId, { month: monthOf(charge.now), emails: charge.emails });
}

/**
 * Checks that the emails could be charged now, without counting them.
 * @throws AppError quota_exceeded
 */
export async function requireQuota(
  tx: Tx,
  tenantId: TenantRow['id'],
  { now, emails }: Charge,
): Promise<Quota> {
  const quota = await getQuota(tx, tenantId, monthOf(now));
  const { monthlyEmails, emails: used } = quota;
  if (monthlyEmails !== null && used + emails > monthlyEmails) throw quotaExceeded(monthlyEmails, used, now);
  return quota;
}

/** Returns the number of emails that can still be counted in this month; Infinity for a plan without a limit. */
export async function remainingQuota(tx: Tx, tenantId: TenantRow['id'], now: number): Promise<number> {
  const { monthlyEmails, emails } = await getQuota(tx, tenantId, monthOf(now));
  return monthlyEmails === null ? Number.POSITIVE_INFINITY : Math.max(0, monthlyEmails - emails);
}

function quotaExceeded(monthlyEmails: number, used: number, now: number): AppError {
  const resetsAt = isoTime(endOfMonth(now));
  return new AppError(
    'quota_exceeded',
    `Your plan allows ${monthlyEmails} emails per month; the next month begins at ${resetsAt}`,
    {
      details: { limit: monthlyEmails, used, resetsAt },
      retryAfterSeconds: secondsLeft(now),
    },
  );
}

/** Returns the month in the form `2026-11`. */
export function monthOf(now: number): string {
  return isoTime(now).slice(0, 7);
}

/** Returns the seconds until the end of the month, at least one. */
export function secondsLeft(now: number): number {
  return Math.ceil((endOfMonth(now) - now) / 1_000);
}

/** Returns the first moment of the next month in Unix milliseconds. */
export function endOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
