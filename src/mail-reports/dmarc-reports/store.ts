/**
 * Stores what DMARC reports are made of. All SQL of these tables is here, and nothing else writes them. Everybody can send mail from any
 * number of addresses and names, so the rows of a day are bounded, and shared among the owners of registered domains; mail beyond the
 * bounds is not reported.
 */

import { sql } from 'kysely';
import { insertBlob } from '../../blobs/store.ts';
import type { DmarcReportRow } from '../../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, findColumns, insertRow } from '../../db/rows.ts';
import { constant, type Param, paramsOf, statement } from '../../db/statement.ts';
import type { OwnMail } from '../../mailbox-delivery/forward/own-mail.ts';
import { enqueue } from '../../queue/store.ts';
import { mayTakeAnother } from '../../system/shares.ts';

/** Maximum number of domains that a day has reports about. */
export const MAX_DOMAINS = 1_000;
/** Maximum numbers of different observations: of one domain, and of a day. */
export const MAX_OBSERVATIONS = 500;
export const MAX_OBSERVATIONS_PER_DAY = 50_000;
/**
 * Number of domains, and of observations, of a day that the owner of one registered domain may have for each one that is still free:
 * one owner alone gets a twentieth of them, and some are left for every other one.
 */
const HELD_PER_FREE = 1 / 19;

/**
 * Share of the bounds of a day that mail which fails DMARC may use. Anybody can forge mail in the names of any number of owners, and
 * the rest is left for the domains that have sent mail themselves.
 */
const MAX_UNPROVEN_SHARE = 1 / 2;

type Key = Pick<DmarcReportRow, 'day' | 'domain'>;
type Observation = Key & { observation: string };
type Observed = Observation &
  Pick<DmarcReportRow, 'registrableDomain' | 'dueAt'> & {
    /** True when the message passed DMARC. */
    isProven: boolean;
  };

const countAgain = statement((db, param: Param<Observation>) =>
  db
    .updateTable('dmarcObservations')
    .set((set) => ({ messages: set('messages', '+', 1) }))
    .where('day', '=', param('day'))
    .where('domain', '=', param('domain'))
    .where('observation', '=', param('observation'))
    .returning('messages'),
);

const selectTotals = (db: Tx) =>
  db
    .selectFrom('dmarcReports')
    .select(({ fn }) => [
      fn.countAll<number>().as('domains'),
      sql<number>`ifnull(sum(observations), 0)`.as('observations'),
    ]);

const totals = statement((db, param: Param<Pick<Key, 'day'>>) =>
  selectTotals(db).where('day', '=', param('day')),
);

const totalsOfOwner = statement((db, param: Param<Pick<Observed, 'day' | 'registrableDomain'>>) =>
  selectTotals(db)
    .where('day', '=', param('day'))
    .where('registrableDomain', '=', param('registrableDomain')),
);

const NOTHING = { domains: 0, observations: 0 };

const upsertReport = statement((db, param: Param<DmarcReportRow>) =>
  db
    .insertInto('dmarcReports')
    .values(paramsOf(param, ['day', 'domain', 'registrableDomain', 'observations', 'attempts', 'dueAt']))
    .onConflict((conflict) =>
      conflict.columns(['day', 'domain']).doUpdateSet((set) => ({
        observations: set('dmarcReports.observations', '+', set.ref('excluded.observations')),
      })),
    ),
);

/** Counts a message. Returns false when the bounds of the day leave no row for it. */
export const observeMessage = defineWrite(
  'inbound.observeDmarc',
  async (tx, observed: Observed): Promise<boolean> => {
    const { day, domain, registrableDomain, observation, dueAt } = observed;
    if (await countAgain.first(tx, { day, domain, observation })) return true;
    if (!(await hasCapacity(tx, observed))) return false;
    await upsertReport.all(tx, { day, domain, registrableDomain, observations: 1, attempts: 0, dueAt });
    await insertRow(tx, 'dmarcObservations', { day, domain, observation, messages: 1 });
    return true;
  },
);

/** Returns true when another observation of the domain fits into the bounds of the day, and into the share of its owner. */
async function hasCapacity(
  tx: Tx,
  { day, domain, registrableDomain, isProven }: Key & Pick<Observed, 'registrableDomain' | 'isProven'>,
): Promise<boolean> {
  const known = await findColumns(tx, 'dmarcReports', { select: ['observations'], where: { day, domain } });
  if (known && known.observations >= MAX_OBSERVATIONS) return false;
  const all = (await totals.first(tx, { day })) ?? NOTHING;
  const own = (await totalsOfOwner.first(tx, { day, registrableDomain })) ?? NOTHING;
  const share = isProven ? 1 : MAX_UNPROVEN_SHARE;
  const mayTake = (held: number, free: number) => mayTakeAnother({ held, free, perFree: HELD_PER_FREE });
  return (
    (known !== undefined || mayTake(own.domains, MAX_DOMAINS * share - all.domains)) &&
    mayTake(own.observations, MAX_OBSERVATIONS_PER_DAY * share - all.observations)
  );
}

const nextDue = statement((db, param: Param<{ now: number }>) =>
  db
    .selectFrom('dmarcReports')
    .selectAll()
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(1),
);

/** Returns the report that has been due for the longest time. */
export function findDueReport(tx: Tx, now: number): Promise<DmarcReportRow | undefined> {
  return nextDue.first(tx, { now });
}

/** Returns the observations of a report. */
export function listObservations(tx: Tx, { day, domain }: Key) {
  return tx
    .selectFrom('dmarcObservations')
    .select(['observation', 'messages'])
    .where('day', '=', day)
    .where('domain', '=', domain)
    .execute();
}

/** Makes a report due later that could not be made. */
export const postponeReport = defineWrite(
  'inbound.postponeDmarcReport',
  async (tx, { day, domain, dueAt }: Key & { dueAt: number }): Promise<void> => {
    await tx
      .updateTable('dmarcReports')
      .set((set) => ({ dueAt, attempts: set('attempts', '+', 1) }))
      .where('day', '=', day)
      .where('domain', '=', domain)
      .execute();
  },
);

type EndedReport = Key & { mail: OwnMail | undefined };

/** Queues the report, if there is one, and deletes what it was made of, in one transaction. */
export const endReport = defineWrite(
  'inbound.endDmarcReport',
  async (tx, { day, domain, mail }: EndedReport): Promise<boolean> => {
    const ended = await tx
      .deleteFrom('dmarcReports')
      .where('day', '=', day)
      .where('domain', '=', domain)
      .returning('domain')
      .executeTakeFirst();
    await deleteRows(tx, 'dmarcObservations', { day, domain });
    if (!ended || !mail) return false;
    await insertBlob(tx, mail.blob);
    await enqueue(tx, mail.message, mail.recipients);
    return true;
  },
  { crashPoints: { beforeCommit: 'dmarc-report-before-commit', afterCommit: 'dmarc-report-after-commit' } },
);
