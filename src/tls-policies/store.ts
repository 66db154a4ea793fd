/** Stores TLS policies of other domains, and counts of sessions for reports about TLS. All SQL of these tables is here. */
import { sql } from 'kysely';
import { defineWrite, type Tx } from '../db/operation.ts';
import { deleteRows, findRow, putRow } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type {
  StsPolicyRow,
  TlsReportPolicyRow,
  TlsReportRow,
  TlsSessionRow,
} from '../db/tls-policy-tables.ts';
import { type ReportedFailure, type ReportedPolicy, summaryOf } from '../mail/tls-policy/reported-session.ts';

/** Maximum number of stored policies. Beyond it, the one that expires first makes room. */
const MAX_POLICIES = 50_000;
/** Maximum number of domains that a day has reports about. */
const MAX_REPORTED_DOMAINS = 10_000;
/** Maximum number of different results of one domain on a day. Further ones are summed without their details. */
export const MAX_RESULTS = 200;
/**
 * Maximum number of different policies of one domain on a day that are stored with their texts: that of MTA-STS, those that it changes
 * to, and the TLSA records of each host. Our own limit: with 8 KiB each, those of all domains take 640 MiB.
 */
const MAX_REPORTED_POLICIES = 8;

/** Returns the policy of a domain, also when it has expired. */
export function findStsPolicy(tx: Tx, domain: string): Promise<StsPolicyRow | undefined> {
  return findRow(tx, 'stsPolicies', { domain });
}

/** Stores the policy of a domain, in place of the one that it had. */
export const saveStsPolicy = defineWrite('tlsPolicies.save', async (tx, row: StsPolicyRow): Promise<void> => {
  const isNew = (await findStsPolicy(tx, row.domain)) === undefined;
  await putRow(tx, 'stsPolicies', row);
  if (!isNew || (await countRows(tx, 'stsPolicies')) <= MAX_POLICIES) return;
  const first = await tx
    .selectFrom('stsPolicies')
    .select('domain')
    .orderBy('expiresAt')
    .limit(1)
    .executeTakeFirstOrThrow();
  await deleteRows(tx, 'stsPolicies', { domain: first.domain });
});

async function countRows(tx: Tx, table: 'stsPolicies' | 'tlsReports'): Promise<number> {
  const { count } = await tx
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Names the next attempt to fetch a policy that could not be fetched. */
export const postponeStsRefresh = defineWrite(
  'tlsPolicies.postponeRefresh',
  async (tx, { domain, refreshAt }: Pick<StsPolicyRow, 'domain' | 'refreshAt'>): Promise<void> => {
    await tx.updateTable('stsPolicies').set({ refreshAt }).where('domain', '=', domain).execute();
  },
);

/** Deletes the policies that have expired. */
export const expireStsPolicies = defineWrite(
  'tlsPolicies.expire',
  async (tx, { now }: { now: number }): Promise<void> => {
    await tx.deleteFrom('stsPolicies').where('expiresAt', '<=', now).execute();
  },
);

const refreshable = statement((db, param: Param<{ now: number; limit: number }>) =>
  db
    .selectFrom('stsPolicies')
    .selectAll()
    .where('refreshAt', '<=', constant(param('now')))
    .orderBy('refreshAt')
    .limit(param('limit')),
);

/** Returns the policies that are to be fetched again, those that wait longest first. */
export function listRefreshable(tx: Tx, due: { now: number; limit: number }): Promise<StsPolicyRow[]> {
  return refreshable.all(tx, due);
}

/** Sessions with the hosts of a domain on a day that ended alike. `policy` is the JSON of the policy that they were opened by. */
export type TlsResult = Omit<TlsSessionRow, 'policy'> & Pick<TlsReportPolicyRow, 'policy'>;

/** Sessions to count. `dueAt` is the time of the first attempt to send the report of the day. */
type CountedSessions = TlsResult & Pick<TlsReportRow, 'dueAt'>;

/** Adds sessions to those of their days. Returns the number of those that are not reported, because too many domains have reports. */
export const addTlsSessions = defineWrite(
  'tlsPolicies.addSessions',
  async (tx, { counted }: { counted: readonly CountedSessions[] }): Promise<number> => {
    let lost = 0;
    for (const { dueAt, ...row } of counted) if (!(await addSessions(tx, row, dueAt))) lost += row.sessions;
    return lost;
  },
);

/** Returns false when there is no room for a report about the domain. */
async function addSessions(tx: Tx, result: TlsResult, dueAt: number): Promise<boolean> {
  const { day, domain } = result;
  const policies = await listPolicies(tx, { day, domain });
  const numberOf = (policy: string) => policies.find((known) => known.policy === policy)?.number;
  const number = numberOf(result.policy);
  if (number !== undefined && (await addToResult(tx, { ...result, policy: number }))) return true;
  if (!(await findRow(tx, 'tlsReports', { day, domain }))) {
    if ((await countRows(tx, 'tlsReports')) >= MAX_REPORTED_DOMAINS) return false;
    await putRow(tx, 'tlsReports', { day, domain, attempts: 0, dueAt, sent: '[]' });
  }
  const hasRoom =
    (number !== undefined || policies.length < MAX_REPORTED_POLICIES) &&
    (await countResults(tx, { day, domain })) < MAX_RESULTS;
  const { policy, ...added } = hasRoom ? result : summaryResultOf(result);
  const row = { ...added, policy: numberOf(policy) ?? policies.length + 1 };
  if (row.policy > policies.length)
    await putRow(tx, 'tlsReportPolicies', { day, domain, number: row.policy, policy });
  if (!(await addToResult(tx, row))) await putRow(tx, 'tlsSessions', row);
  return true;
}

/** Returns the policies of a domain on a day, in the order of their numbers. */
function listPolicies(tx: Tx, { day, domain }: Day): Promise<TlsReportPolicyRow[]> {
  return tx
    .selectFrom('tlsReportPolicies')
    .selectAll()
    .where('day', '=', day)
    .where('domain', '=', domain)
    .orderBy('number')
    .execute();
}

async function countResults(tx: Tx, { day, domain }: Day): Promise<number> {
  const { count } = await tx
    .selectFrom('tlsSessions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('day', '=', day)
    .where('domain', '=', domain)
    .executeTakeFirstOrThrow();
  return count;
}

/** Adds sessions to those that ended alike. Returns false when there are none. */
async function addToResult(
  tx: Tx,
  { day, domain, policy, failure, sessions }: TlsSessionRow,
): Promise<boolean> {
  const known = await tx
    .updateTable('tlsSessions')
    .set((set) => ({ sessions: set('sessions', '+', sessions) }))
    .where('day', '=', day)
    .where('domain', '=', domain)
    .where('policy', '=', policy)
    .where('failure', '=', failure)
    .returning('sessions')
    .executeTakeFirst();
  return known !== undefined;
}

function summaryResultOf({ policy, failure, ...result }: TlsResult): TlsResult {
  const summary = summaryOf({
    policy: JSON.parse(policy) as ReportedPolicy,
    failure: failure === '' ? null : (JSON.parse(failure) as ReportedFailure),
  });
  return {
    ...result,
    policy: JSON.stringify(summary.policy),
    failure: summary.failure ? JSON.stringify(summary.failure) : '',
  };
}

const dueReports = statement((db, param: Param<{ now: number; limit: number }>) =>
  db
    .selectFrom('tlsReports')
    .selectAll()
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(param('limit')),
);

/** Returns the reports that are due, those that wait longest first. */
export function listDueTlsReports(tx: Tx, due: { now: number; limit: number }): Promise<TlsReportRow[]> {
  return dueReports.all(tx, due);
}

type Day = Pick<TlsReportRow, 'day' | 'domain'>;

/** Returns the sessions that a report is about, in the order of the texts of their policies and failures. */
export function listTlsSessions(tx: Tx, { day, domain }: Day): Promise<TlsResult[]> {
  return tx
    .selectFrom('tlsSessions')
    .innerJoin('tlsReportPolicies', (join) =>
      join
        .onRef('tlsReportPolicies.day', '=', 'tlsSessions.day')
        .onRef('tlsReportPolicies.domain', '=', 'tlsSessions.domain')
        .onRef('tlsReportPolicies.number', '=', 'tlsSessions.policy'),
    )
    .select([
      'tlsSessions.day',
      'tlsSessions.domain',
      'tlsReportPolicies.policy',
      'tlsSessions.failure',
      'tlsSessions.sessions',
    ])
    .where('tlsSessions.day', '=', day)
    .where('tlsSessions.domain', '=', domain)
    .orderBy('tlsReportPolicies.policy')
    .orderBy('tlsSessions.failure')
    .execute();
}

/** Time of the next attempt to send a report, and what has it until then. */
export type Postponement = Pick<TlsReportRow, 'dueAt' | 'sent'>;

/** Makes a report due later that could not be sent everywhere, within a write. Returns false when it was deleted before. */
export async function postponeTlsReport(
  tx: Tx,
  { day, domain }: Day,
  { dueAt, sent }: Postponement,
): Promise<boolean> {
  const postponed = await tx
    .updateTable('tlsReports')
    .set({ dueAt, sent, attempts: sql`attempts + 1` })
    .where('day', '=', day)
    .where('domain', '=', domain)
    .returning('domain')
    .executeTakeFirst();
  return postponed !== undefined;
}

/** Deletes a report and what it is made of, within a write. Returns false when it was deleted before. */
export async function deleteTlsReport(tx: Tx, { day, domain }: Day): Promise<boolean> {
  const deleted = await tx
    .deleteFrom('tlsReports')
    .where('day', '=', day)
    .where('domain', '=', domain)
    .returning('domain')
    .executeTakeFirst();
  await deleteRows(tx, 'tlsSessions', { day, domain });
  await deleteRows(tx, 'tlsReportPolicies', { day, domain });
  return deleted !== undefined;
}
