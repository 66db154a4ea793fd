/**
 * Stores which findings the hourly run has made, since when, and which checks were reported by mail or are silenced. It also reads
 * what checks of stored data need.
 */
import { sql } from 'kysely';
import { insertBlob } from '../blobs/store.ts';
import { defineRead, defineWrite, type Tx } from '../db/operation.ts';
import type { DoctorCheckRow, DoctorFindingRow } from '../db/own-tables.ts';
import { putRow } from '../db/rows.ts';
import type { DomainRow } from '../db/tables.ts';
import type { CountRow } from '../db/tracking-tables.ts';
import type { PublishingDomain } from '../domains/records.ts';
import type { Findings } from '../domains/states.ts';
import type { OwnMail } from '../mailbox-delivery/forward/own-mail.ts';
import { enqueue } from '../queue/store.ts';
import { firstIdAt } from '../system/ids.ts';
import type { Finding, Level } from './check.ts';

/** A finding whose level is another one than in the run before. */
export type Turn = { finding: Finding; before: Level };

type Recorded = {
  /** Checks that were carried out. What is known of other checks stays. */
  checks: readonly string[];
  findings: readonly Finding[];
  now: number;
};

/** Stores the findings of a run that are not `ok`. Returns those that have turned, also back to `ok`. */
export const recordFindings = defineWrite(
  'doctor.recordFindings',
  async (tx, { checks, findings, now }: Recorded): Promise<Turn[]> => {
    const known = new Map<string, DoctorFindingRow>();
    for (const row of await listFindings(tx)) if (checks.includes(row.checkName)) known.set(keyOf(row), row);
    const turns: Turn[] = [];
    await changeChecks(tx, checks, { ranAt: now });
    // The last finding about a subject counts.
    const single = new Map(
      findings.map((one) => [keyOf({ checkName: one.check, subject: one.subject }), one]),
    );
    for (const finding of single.values()) {
      const { check: checkName, subject, level, says, advice } = finding;
      if (level === 'ok' || !checks.includes(checkName)) continue;
      const row = known.get(keyOf({ checkName, subject }));
      known.delete(keyOf({ checkName, subject }));
      const hasTurned = row?.level !== level;
      if (hasTurned) turns.push({ finding, before: row?.level ?? 'ok' });
      const since = hasTurned ? now : row.since;
      await putRow(tx, 'doctorFindings', { checkName, subject, level, says, advice, since });
    }
    for (const { checkName: check, subject, level: before } of known.values()) {
      turns.push({ finding: { check, subject, level: 'ok', says: 'all is well again', advice: '' }, before });
      await tx
        .deleteFrom('doctorFindings')
        .where('checkName', '=', check)
        .where('subject', '=', subject)
        .execute();
    }
    return turns;
  },
);

function keyOf({ checkName, subject }: Pick<DoctorFindingRow, 'checkName' | 'subject'>): string {
  return JSON.stringify([checkName, subject]);
}

/** Returns the findings of the last runs that are not `ok`. */
export function listFindings(tx: Tx): Promise<DoctorFindingRow[]> {
  return tx.selectFrom('doctorFindings').selectAll().orderBy('checkName').orderBy('subject').execute();
}

/** Returns what is known of the checks that were carried out, reported by mail or silenced. */
export function listCheckStates(tx: Tx): Promise<DoctorCheckRow[]> {
  return tx.selectFrom('doctorChecks').selectAll().orderBy('name').execute();
}

/** Changes what is known of checks, as part of a write. */
async function changeChecks(
  tx: Tx,
  names: readonly string[],
  change: Partial<Omit<DoctorCheckRow, 'name'>>,
): Promise<void> {
  const known = new Map((await listCheckStates(tx)).map((state) => [state.name, state]));
  for (const name of names) {
    const before = known.get(name) ?? { mailedAt: null, silencedAt: null, ranAt: null };
    await putRow(tx, 'doctorChecks', { ...before, name, ...change });
  }
}

/** Silences a check, so that it sends no mail, or has it send mail again. */
export const silenceCheck = defineWrite(
  'doctor.silenceCheck',
  (tx, { name, silencedAt }: { name: string; silencedAt: number | null }): Promise<void> =>
    changeChecks(tx, [name], { silencedAt }),
);

/** Queues a mail to the operator about these checks. */
export const queueReport = defineWrite(
  'doctor.queueReport',
  async (
    tx,
    { mail, checks, now }: { mail: OwnMail; checks: readonly string[]; now: number },
  ): Promise<void> => {
    await changeChecks(tx, checks, { mailedAt: now });
    await insertBlob(tx, mail.blob);
    await enqueue(tx, mail.message, mail.recipients);
  },
);

export type CheckedDomain = PublishingDomain & Pick<DomainRow, 'tenantId'> & { findings: Findings };

const DOMAIN_COLUMNS = [
  ...(['id', 'tenantId', 'name', 'selector', 'publicKey'] as const),
  ...(['trackingSubdomain', 'productType', 'records'] as const),
] as const;

function liveDomains(tx: Tx) {
  return tx.selectFrom('domains').select(DOMAIN_COLUMNS).where('deletedAt', 'is', null);
}

function toChecked({ records, ...domain }: Pick<DomainRow, (typeof DOMAIN_COLUMNS)[number]>): CheckedDomain {
  return { ...domain, findings: JSON.parse(records) as Findings };
}

/** Returns the domains of this name, of all tenants. */
export async function findDomainsNamed(tx: Tx, name: string): Promise<CheckedDomain[]> {
  return (await liveDomains(tx).where('name', '=', name).orderBy('id').execute()).map(toChecked);
}

/** Maximum number of domains that are reviewed at once: more than are shown, so that it can be said that there are more. */
const MAX_REVIEWED = 200;

/** Returns domains that were verified and whose records are wrong, and those whose DMARC records need a second look. */
export const listDomainsToReview = defineRead(
  'doctor.listDomainsToReview',
  async (tx, _input: object): Promise<CheckedDomain[]> => {
    const rows = await liveDomains(tx)
      .where('verifiedAt', 'is not', null)
      .where((where) => where.or([where('status', '!=', 'verified'), where('records', 'like', '%pct%')]))
      .orderBy('failingSince', 'desc')
      .limit(MAX_REVIEWED)
      .execute();
    return rows.map(toChecked);
  },
);

/** Returns the number of domains of each status. */
export const countDomainsByStatus = defineRead(
  'doctor.countDomainsByStatus',
  async (tx, _input: object): Promise<Record<string, number>> => {
    const rows = await tx
      .selectFrom('domains')
      .select(['status', (select) => select.fn.countAll<number>().as('count')])
      .where('deletedAt', 'is', null)
      .groupBy('status')
      .orderBy('status')
      .execute();
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  },
);

/** Returns the time since which the mail that waits longest has been due, or the time at which it will be; null when none waits. */
export const findEarliestDue = defineRead(
  'doctor.findEarliestDue',
  async (tx, _input: object): Promise<number | null> => {
    // The condition is literal, because SQLite uses a partial index only when it can see the index's condition.
    const { rows } = await sql<{ dueAt: number | null }>`SELECT min("dueAt") AS "dueAt" FROM recipients
      WHERE state IN ('ready', 'deferred') AND "dueAt" > 0`.execute(tx);
    return rows[0]?.dueAt ?? null;
  },
);

type ComplaintRate = Pick<CountRow, 'tenantId' | 'provider' | 'delivered' | 'complained'>;

/** Returns the tenants about whose live mail the readers of a provider complain more often than at `minRate`. */
export const listComplaintRates = defineRead(
  'doctor.listComplaintRates',
  async (
    tx,
    { since, minDelivered, minRate }: { since: number; minDelivered: number; minRate: number },
  ): Promise<ComplaintRate[]> => {
    const { rows } = await sql<ComplaintRate>`
      SELECT "tenantId", provider, sum(delivered) AS delivered, sum(complained) AS complained
        FROM counts WHERE start >= ${since} AND span = 'day' AND mode = 'live'
       GROUP BY "tenantId", provider
      HAVING sum(delivered) >= ${minDelivered} AND sum(complained) >= ${minRate} * sum(delivered)
       ORDER BY 1.0 * sum(complained) / sum(delivered) DESC LIMIT ${MAX_REVIEWED}`.execute(tx);
    return rows;
  },
);

/** Maximum number of attempts that are counted, the newest first. */
const MAX_COUNTED_ATTEMPTS = 200_000;

/** The attempts at one host: those that it has accepted, those that it has refused for another reason than the address, and the time of the first one. */
export type AttemptsAtHost = { host: string; accepted: number; refused: number; firstAt: number };

/** Counts the attempts since a time, in Unix milliseconds, by the host that was tried. */
export const countRecentAttempts = defineRead(
  'doctor.countRecentAttempts',
  async (tx, { since }: { since: number }): Promise<AttemptsAtHost[]> => {
    const { rows } = await sql<AttemptsAtHost>`
      SELECT mx AS host, min(at) AS "firstAt", sum(CASE WHEN outcome = 'delivered' THEN 1 ELSE 0 END) AS accepted,
             sum(CASE WHEN outcome = 'deferred' OR outcome = 'bounced' AND coalesce("enhancedCode", '') NOT LIKE '5.1.%'
                      THEN 1 ELSE 0 END) AS refused
        FROM (SELECT mx, outcome, at, "enhancedCode" FROM attempts WHERE id >= ${firstIdAt('att', since)}
               ORDER BY id DESC LIMIT ${MAX_COUNTED_ATTEMPTS}) AS recent
       WHERE mx IS NOT NULL GROUP BY mx`.execute(tx);
    return rows;
  },
);
