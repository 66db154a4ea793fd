/**
 * Counts the mail with a tag from its events. Tags have no counters: a tenant may use a value only once, for example the
 * number of an order. This module writes nothing.
 */

import { sql } from 'kysely';
import type { CountedSpan, CountFilter, CountQuery, Counts } from '../../counts/store.ts';
import { COUNTERS, type Counter, HOUR_MS, type Increments, SPAN_MS, Tally } from '../../counts/tally.ts';
import type { EmailTagRow } from '../../db/email-tables.ts';
import { defineRead, type Tx } from '../../db/operation.ts';
import { findColumns } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { MessageRow } from '../../db/tables.ts';
import type { Tag } from '../../emails/request/tags.ts';
import { firstIdAt } from '../../system/ids.ts';

/** An event of an email, with what its data says. */
type CountableEvent = {
  emailId: string;
  type: string;
  createdAt: number;
  /** Recipient of the event. */
  to: string;
  bounceType: string | null;
  /** 1 when a machine opened the email or clicked. Null for other events. */
  isMachine: 0 | 1 | null;
};

const BOUNCES: Readonly<Record<string, Counter>> = {
  permanent: 'bouncedPermanent',
  transient: 'bouncedTransient',
  undetermined: 'bouncedUndetermined',
};

const SIMPLE: Readonly<Record<string, Counter>> = {
  'email.queued': 'accepted',
  'email.delivered': 'delivered',
  'email.complained': 'complained',
  'email.suppressed': 'suppressed',
  'email.canceled': 'canceled',
};

/** Maximum numbers of emails and of events in a slice, which takes a thread about 10 ms. */
const EMAILS_PER_SLICE = 250;
const EVENTS_PER_SLICE = 1_000;

type Recount = CountQuery & {
  tags: readonly Tag[];
  /** Email after which the slice begins; null for the first. */
  after: EmailTagRow['emailId'] | null;
};

type Tagged = Pick<EmailTagRow, 'tenantId' | 'mode' | 'key' | 'value'> & { after: string; until: string };

const tagged = statement((db, param: Param<Tagged>) =>
  db
    .selectFrom('emailTags')
    .select('emailId')
    .where('tenantId', '=', constant(param('tenantId')))
    .where('mode', '=', constant(param('mode')))
    .where('key', '=', constant(param('key')))
    .where('value', '=', constant(param('value')))
    .where(sql<boolean>`"emailId" > ${constant(param('after'))} AND "emailId" < ${constant(param('until'))}`)
    .orderBy('emailId')
    .limit(sql.lit(EMAILS_PER_SLICE)),
);

const eventsOf = statement((db, param: Param<Pick<CountableEvent, 'emailId'>>) =>
  db
    .selectFrom('events')
    .select(['type', 'createdAt'])
    .select([
      sql<string>`ifnull(data ->> '$.to', '')`.as('to'),
      sql<string | null>`data ->> '$.bounce.type'`.as('bounceType'),
      sql<0 | 1 | null>`ifnull(data ->> '$.open.bot', data ->> '$.click.bot')`.as('isMachine'),
    ])
    .where('emailId', '=', constant(param('emailId')))
    // SQLite numbers the rows as they come, and the index has them in this order.
    .orderBy(sql`"events".rowid`),
);

/**
 * Counts the next emails with a tag that were accepted in the time of the report: their events in that time, added up by hour
 * or day, and by group. `next` is null at the end.
 */
export const recount = defineRead(
  'statistics.recount',
  async (tx, query: Recount): Promise<{ spans: CountedSpan[]; next: Recount['after'] }> => {
    const emailIds = await listTagged(tx, query);
    const tally = new Tally();
    let events = 0;
    let last: Recount['after'] = null;
    for (const emailId of emailIds) {
      events += await countEmail(tx, { emailId, query, tally });
      last = emailId;
      if (events >= EVENTS_PER_SLICE) break;
    }
    const isOver = last === (emailIds.at(-1) ?? null) && emailIds.length < EMAILS_PER_SLICE;
    return { spans: spansOf(tally.take(), query), next: isOver ? null : last };
  },
);

/** Returns the next emails that have the tag in any of its meanings, in the order of their ids. */
async function listTagged(
  tx: Tx,
  { tenantId, mode, tags, from, until, after }: Recount,
): Promise<EmailTagRow['emailId'][]> {
  const range = { after: after ?? firstIdAt('em', from), until: firstIdAt('em', until) };
  const ids = new Set<EmailTagRow['emailId']>();
  for (const tag of tags)
    for (const { emailId } of await tagged.all(tx, { tenantId, mode, ...tag, ...range })) ids.add(emailId);
  return [...ids].sort().slice(0, EMAILS_PER_SLICE);
}

type Counting = { emailId: EmailTagRow['emailId']; query: Recount; tally: Tally };

/** Counts the events of an email. Returns how many were read. */
async function countEmail(
  tx: Tx,
  { emailId, query: { filter, from, until }, tally }: Counting,
): Promise<number> {
  const mail = await findColumns(tx, 'messages', {
    select: ['tenantId', 'mode', 'kind', 'domainId', 'broadcastId'],
    where: { id: emailId },
  });
  if (!mail || !isWanted(filter, mail)) return 0;
  const countersOf = createClassifier();
  const events = await eventsOf.all(tx, { emailId });
  for (const { to, createdAt: at, ...event } of events) {
    const counters = countersOf({ ...event, emailId, to, createdAt: at });
    if (at >= from && at < until) tally.count(mail, { to, at, counters });
  }
  return events.length;
}

function isWanted(
  { visibleDomainId, domainId, kind, broadcastId }: CountFilter,
  mail: Pick<MessageRow, 'domainId' | 'kind' | 'broadcastId'>,
): boolean {
  return (
    (visibleDomainId === null || visibleDomainId === mail.domainId) &&
    (domainId === undefined || domainId === (mail.domainId ?? '')) &&
    (kind === undefined || kind === mail.kind) &&
    (broadcastId === undefined || broadcastId === (mail.broadcastId ?? ''))
  );
}

function spansOf(
  increments: readonly Increments[],
  { span, groupBy, filter: { provider } }: CountQuery,
): CountedSpan[] {
  const spanMs = SPAN_MS[span];
  const spans = new Map<string, CountedSpan>();
  for (const { hour, by, ...key } of increments) {
    if (provider !== undefined && provider !== key.provider) continue;
    const at = hour * HOUR_MS;
    const start = at - (at % spanMs);
    const group = groupBy === null ? null : key[groupBy];
    const name = `${start} ${group ?? ''}`;
    const counted = spans.get(name) ?? { start, group, ...noCounts() };
    spans.set(name, counted);
    for (const [counter, times] of by) counted[counter] += times;
  }
  return [...spans.values()];
}

function noCounts(): Counts {
  return Object.fromEntries(COUNTERS.map((counter) => [counter, 0])) as Counts;
}

/**
 * Returns the function that gives the counters of each event. The events of an email come in their order: a later delay, open
 * or click of the same recipient is not the first one.
 */
function createClassifier(): (event: CountableEvent) => readonly Counter[] {
  const seen = new Set<string>();
  const isFirst = ({ emailId, to, type }: CountableEvent): boolean => {
    const name = `${emailId} ${type} ${to}`;
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  };
  return (event) => {
    const { type, bounceType, isMachine } = event;
    switch (type) {
      case 'email.bounced':
        return [BOUNCES[bounceType ?? ''] ?? 'bouncedUndetermined'];
      case 'email.delivery_delayed':
        return isFirst(event) ? ['delayed'] : [];
      case 'email.opened':
        if (isMachine === 1) return ['machineOpened'];
        return isFirst(event) ? ['opened', 'uniqueOpened'] : ['opened'];
      case 'email.clicked':
        if (isMachine === 1) return ['machineClicked'];
        return isFirst(event) ? ['clicked', 'uniqueClicked'] : ['clicked'];
      default:
        return SIMPLE[type] === undefined ? [] : [SIMPLE[type]];
    }
  };
}
