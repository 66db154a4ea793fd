/** Reads the engagements that are due for their classification, with everything that the classification considers. */
import { sql } from 'kysely';
import { defineRead, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { EngagementRow } from '../../db/tracking-tables.ts';
import { CLASSIFICATION_DELAY_MS } from '../engagements/record.ts';

/** A person does not follow this many different links of an email within this time. */
const BURST_LINKS = 3;
const BURST_MS = 10_000;

type Click = Pick<EngagementRow, 'at' | 'link' | 'ip'>;

/** A time from the first to the last click that are too many, with the addresses of their clients. */
type Burst = { from: number; to: number; ips: readonly (string | null)[] };

export type DueEngagement = Omit<
  EngagementRow,
  'url' | 'requests' | 'dueAt' | 'verdict' | 'reason' | 'eventId'
>;

/** Facts about an email that the engagement itself does not have. */
export type EmailFacts = {
  /** Delivery attempts that showed the content of the email to a server: their ends and their durations. */
  attempts: readonly { at: number; durationMs: number }[];
  /** True while a server is being shown the email, and none has accepted it. */
  isInFlight: boolean;
  /** Bursts among the clicks of the email, around the engagements. */
  bursts: readonly Burst[];
};

type DueRange = {
  /** Time at or before which an engagement is due. */
  now: number;
  /** Maximum number of engagements. */
  limit: number;
};

const COLUMNS = ['id', 'emailId', 'kind', 'link', 'at', 'ip', 'userAgent', 'isHead', 'isPrefetch'] as const;

const due = statement((db, param: Param<DueRange>) =>
  db
    .selectFrom('engagements')
    .select(COLUMNS)
    // Literal, for the partial index `engagementsDue`.
    .where('dueAt', 'is not', null)
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(constant(param('limit'))),
);

const dueAfter = statement((db, param: Param<{ after: number; limit: number }>) =>
  db
    .selectFrom('engagements')
    .select(COLUMNS)
    .where('dueAt', 'is not', null)
    .where('dueAt', '>', constant(param('after')))
    .limit(constant(param('limit'))),
);

/** Returns the engagements that are due. One that waits for longer than the delay is due too: the clock was set back. */
async function findDue(tx: Tx, { now, limit }: DueRange): Promise<DueEngagement[]> {
  const found = await due.all(tx, { now, limit });
  if (found.length === limit) return found;
  const late = { after: now + CLASSIFICATION_DELAY_MS, limit: limit - found.length };
  return [...found, ...(await dueAfter.all(tx, late))];
}

const showingAttempts = statement((db, param: Param<Pick<EngagementRow, 'emailId'>>) =>
  db
    .selectFrom('recipients')
    .innerJoin('attempts', 'attempts.recipientId', 'recipients.id')
    .select(['attempts.at', 'attempts.durationMs'])
    .where('recipients.messageId', '=', constant(param('emailId')))
    .where((or) =>
      or.or([or('attempts.outcome', '=', 'delivered'), or('attempts.phase', 'in', ['dot', 'body'])]),
    ),
);

const inFlight = statement((db, param: Param<Pick<EngagementRow, 'emailId'>>) =>
  db
    .selectFrom('recipients')
    .select(
      sql<0 | 1 | null>`max(state = 'in_flight') AND NOT max(state IN ('delivered', 'complained'))`.as(
        'isInFlight',
      ),
    )
    .where('messageId', '=', constant(param('emailId'))),
);

type Near = Pick<EngagementRow, 'emailId'> & { from: number; to: number };

const clicksNear = statement((db, param: Param<Near>) =>
  db
    .selectFrom('engagements')
    .select(['at', 'link', 'ip'])
    .where('emailId', '=', constant(param('emailId')))
    .where('kind', '=', 'click')
    .where('at', '>=', constant(param('from')))
    .where('at', '<=', constant(param('to')))
    .orderBy('at'),
);

/** Returns the engagements that are due, those first that have waited longest, and the facts of their emails. */
export const listDueEngagements = defineRead('tracking.listDue', async (tx, range: DueRange) => {
  const engagements = await findDue(tx, range);
  const facts: [emailId: EngagementRow['emailId'], facts: EmailFacts][] = [];
  for (const [emailId, near] of groupByEmail(engagements)) {
    const times = near.map(({ at }) => at);
    const [from, to] = [Math.min(...times) - BURST_MS, Math.max(...times) + BURST_MS];
    const known = {
      attempts: await showingAttempts.all(tx, { emailId }),
      isInFlight: (await inFlight.first(tx, { emailId }))?.isInFlight === 1,
      bursts: findBursts(await clicksNear.all(tx, { emailId, from, to })),
    };
    facts.push([emailId, known]);
  }
  return { engagements, facts };
});

function groupByEmail(engagements: readonly DueEngagement[]): Map<EngagementRow['emailId'], DueEngagement[]> {
  return Map.groupBy(engagements, ({ emailId }) => emailId);
}

const nextDue = statement((db, _param: Param<object>) =>
  db.selectFrom('engagements').select('dueAt').where('dueAt', 'is not', null).orderBy('dueAt').limit(1),
);

/** Returns the time of the next classification in Unix milliseconds; undefined when none is due. */
export async function findNextClassificationAt(tx: Tx): Promise<number | undefined> {
  return (await nextDue.first(tx, {}))?.dueAt ?? undefined;
}

/** Returns the bursts among the clicks of one email, which are in the order of their times. It takes linear time. */
export function findBursts(clicks: readonly Click[]): Burst[] {
  const spans: { from: number; to: number }[] = [];
  const links = new Map<number | null, number>();
  let start = 0;
  for (const { at: to, link } of clicks) {
    links.set(link, (links.get(link) ?? 0) + 1);
    for (let first = clicks[start]; first && first.at < to - BURST_MS; first = clicks[++start]) {
      const left = (links.get(first.link) ?? 0) - 1;
      if (left > 0) links.set(first.link, left);
      else links.delete(first.link);
    }
    if (links.size < BURST_LINKS) continue;
    const from = clicks[start]?.at ?? to;
    const last = spans.at(-1);
    if (last && from <= last.to) last.to = to;
    else spans.push({ from, to });
  }
  return spans.map(({ from, to }) => {
    const within = clicks.filter(({ at }) => at >= from && at <= to);
    return { from, to, ips: [...new Set(within.map(({ ip }) => ip))] };
  });
}
