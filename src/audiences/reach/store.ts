/**
 * Reads which contacts of an audience or a segment would get a marketing mail, and why the others would not. This module
 * writes nothing. The reasons are those of `findExclusions` (queue/exclusions.ts), which decides again when the mail is
 * sent; there, one address is checked at a time, and here a whole range of contacts in one statement.
 */

import { type RawBuilder, sql } from 'kysely';
import type { ContactRow, TopicRow } from '../../db/marketing-tables.ts';
import { defineRead, type Tx } from '../../db/operation.ts';
import { ALL_TOPICS } from '../choices-store.ts';
import { TEXT_FIELD_NAMES, type TextFieldName } from '../contacts/text-fields.ts';
import type { Filter } from '../segments/filter.ts';
import { type IdRange, type SegmentQuery, selectMatching, timed } from '../segments/store.ts';

/** The reach of a contact: the mail arrives, or one of the reasons why it does not. */
export type Reach = 'receives' | 'suppressed' | 'unsubscribed' | 'optedOut' | 'notOptedIn';

/** The marketing mail that contacts are checked for. */
export type ReachQuery = Omit<SegmentQuery, 'filter'> & {
  /** Filter of the segment. Undefined means the whole audience. */
  filter: Filter | undefined;
  topic: Pick<TopicRow, 'id' | 'defaultOptIn'> | undefined;
};

type ReachCount = { reach: Reach; count: number; newest: ContactRow['id'] };

/** Counts the contacts in a range of ids by what the mail would mean for them, with the newest contact of each kind. */
export const countReach = defineRead(
  'audiences.countReach',
  (tx, { idRange, topic, ...query }: ReachQuery & { idRange: IdRange }) =>
    timed(async () => ({ counts: await countByReach(tx, { ...query, topic }, idRange) })),
);

export type ReachedContact = Pick<ContactRow, 'id' | 'email' | 'address' | TextFieldName | 'properties'> & {
  reach: Reach;
};

/** Selects the contacts in a range of ids that are checked. Nobody counts pending contacts, because they cannot get the mail yet. */
async function selectConfirmed(tx: Tx, query: ReachQuery, idRange: IdRange) {
  return (await selectMatching(tx, query, idRange)).where('contacts.pending', '=', 0);
}

/** Returns the contacts in a range of ids with what the mail would mean for each, oldest first, without pending ones. */
export async function readReached(tx: Tx, query: ReachQuery, idRange: IdRange): Promise<ReachedContact[]> {
  const contacts = await selectConfirmed(tx, query, idRange);
  return contacts
    .select(['contacts.id', 'contacts.email', 'contacts.address', 'contacts.properties'])
    .select(TEXT_FIELD_NAMES.map((name) => `contacts.${name}` as const))
    .select(reachOf(query.topic).as('reach'))
    .orderBy('contacts.id')
    .execute();
}

async function countByReach(tx: Tx, query: ReachQuery, idRange: IdRange): Promise<ReachCount[]> {
  const contacts = await selectConfirmed(tx, query, idRange);
  return tx
    .selectFrom(contacts.select(['contacts.id', reachOf(query.topic).as('reach')]).as('checked'))
    .select(({ fn }) => [
      'checked.reach',
      fn.countAll<number>().as('count'),
      fn.max('checked.id').as('newest'),
    ])
    .groupBy('checked.reach')
    .execute();
}

/**
 * Returns the expression that classifies a row of `contacts`. Most addresses have no choices, which one look-up tells; the
 * choices themselves are read only for the others.
 */
function reachOf(topic: ReachQuery['topic']): RawBuilder<Reach> {
  const optOut = topic ? sql`WHEN ${hasChosen(topic.id, 0)} THEN 'optedOut'` : sql``;
  const optIn = topic?.defaultOptIn === 0 ? sql`WHEN NOT ${hasChosen(topic.id, 1)} THEN 'notOptedIn'` : sql``;
  const undecided = topic?.defaultOptIn === 0 ? 'notOptedIn' : 'receives';
  return sql<Reach>`CASE
    WHEN EXISTS (
      SELECT 1 FROM suppressions
      WHERE suppressions.tenantId = contacts.tenantId AND suppressions.email = contacts.address
    ) THEN 'suppressed'
    WHEN NOT EXISTS (
      SELECT 1 FROM contactChoices
      WHERE contactChoices.tenantId = contacts.tenantId AND contactChoices.address = contacts.address
    ) THEN ${sql.lit(undecided)}
    WHEN ${hasChosen(ALL_TOPICS, 0)} THEN 'unsubscribed'
    ${optOut}
    ${optIn}
    ELSE 'receives' END`;
}

/** Returns the condition that a contact with the address, in an audience that is not deleted, or its reader has chosen so. */
function hasChosen(topicId: string, optedIn: 0 | 1): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (
    SELECT 1 FROM contactChoices
    LEFT JOIN contacts AS choosers ON choosers.id = contactChoices.contactId
    LEFT JOIN audiences ON audiences.id = choosers.audienceId
    WHERE contactChoices.tenantId = contacts.tenantId AND contactChoices.address = contacts.address
      AND contactChoices.topicId = ${topicId} AND contactChoices.optedIn = ${optedIn}
      AND (contactChoices.contactId = '' OR (audiences.id IS NOT NULL AND audiences.deletedAt IS NULL))
  )`;
}
