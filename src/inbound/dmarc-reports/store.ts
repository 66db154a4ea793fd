/**
 * Stores what DMARC reports are made of. All SQL of these tables is here, and nothing else writes them. Everybody can send mail from any
 * number of addresses and domains, so the rows of a day are bounded; mail beyond the bounds is not reported.
 */
import { sql } from 'kysely';
import { insertBlob } from '../../blobs/store.ts';
import type { DmarcReportRow } from '../../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { BlobRow, MessageRow } from '../../db/tables.ts';
import { enqueue, type NewRecipient } from '../../queue/store.ts';

/** Maximum number of domains that a day has reports about. Our own limit. */
export const MAX_DOMAINS = 1_000;
/** Maximum numbers of different observations: of one domain, and of a day. Our own limits. */
export const MAX_OBSERVATIONS = 500;
const MAX_OBSERVATIONS_PER_DAY = 50_000;

type Key = Pick<DmarcReportRow, 'day' | 'domain'>;
type Observed = Key & { observation: string; dueAt: number };

const countAgain = statement((db, param: Param<Omit<Observed, 'dueAt'>>) =>
  db
    .updateTable('dmarcObservations')
    .set((set) => ({ messages: set('messages', '+', 1) }))
    .where('day', '=', param('day'))
    .where('domain', '=', param('domain'))
    .where('observation', '=', param('observation'))
    .returning('messages'),
);

const insertObservation = statement((db, param: Param<Omit<Observed, 'dueAt'>>) =>
  db.insertInto('dmarcObservations').values({
    day: param('day'),
    domain: param('domain'),
    observation: param('observation'),
    messages: 1,
  }),
);

const totals = statement((db, param: Param<Pick<Key, 'day'>>) =>
  db
    .selectFrom('dmarcReports')
    .select(({ fn }) => [
      fn.countAll<number>().as('domains'),
      sql<number>`ifnull(sum(observations), 0)`.as('observations'),
    ])
    .where('day', '=', param('day')),
);

const reportOf = statement((db, param: Param<Key>) =>
  db
    .selectFrom('dmarcReports')
    .select('observations')
    .where('day', '=', param('day'))
    .where('domain', '=', param('domain')),
);

const upsertReport = statement((db, param: Param<Omit<Observed, 'observation'>>) =>
  db
    .insertInto('dmarcReports')
    .values({
      day: param('day'),
      domain: param('domain'),
      observations: 1,
      attempts: 0,
      dueAt: param('dueAt'),
    })
    .onConflict((conflict) =>
      conflict.columns(['day', 'domain']).doUpdateSet((set) => ({
        observations: set('dmarcReports.observations', '+', 1),
      })),
    ),
);

/** Counts a message. Returns false when the bounds of the day leave no row for it. */
export const observeMessage = defineWrite(
  'inbound.observeDmarc',
  async (tx, { day, domain, observation, dueAt }: Observed): Promise<boolean> => {
    if (await countAgain.first(tx, { day, domain, observation })) return true;
    const known = await reportOf.first(tx, { day, domain });
    const { domains = 0, observations = 0 } = (await totals.first(tx, { day })) ?? {};
    const isFull = known ? known.observations >= MAX_OBSERVATIONS : domains >= MAX_DOMAINS;
    if (isFull || observations >= MAX_OBSERVATIONS_PER_DAY) return false;
    await upsertReport.all(tx, { day, domain, dueAt });
    await insertObservation.all(tx, { day, domain, observation });
    return true;
  },
);

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

type EndedReport = Key & {
  mail: { blob: BlobRow; message: MessageRow; recipients: readonly NewRecipient[] } | undefined;
};

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
    await tx.deleteFrom('dmarcObservations').where('day', '=', day).where('domain', '=', domain).execute();
    if (!ended || !mail) return false;
    await insertBlob(tx, mail.blob);
    await enqueue(tx, mail.message, mail.recipients);
    return true;
  },
  { crashPoints: { beforeCommit: 'dmarc-report-before-commit', afterCommit: 'dmarc-report-after-commit' } },
);
