/**
 * Reads which domains the spool still needs: those with scheduled mail or broadcasts, and those whose mail is not delivered yet. This
 * module writes nothing.
 */
import { sql } from 'kysely';
import { defineRead, type Tx } from '../db/operation.ts';
import type { DomainRow } from '../db/tables.ts';

/**
 * Selects the domain's scheduled mail. The condition of the dates is that of the index `messagesScheduled`. The held mail of people is left
 * out: nobody but its writer knows of it, and the writer is told when it fails because the domain was deleted.
 */
function scheduledMail(tx: Tx, { domainId, now }: { domainId: DomainRow['id']; now: number }) {
  return tx
    .selectFrom('messages')
    .where('domainId', '=', domainId)
    .where(sql<boolean>`"datedAt" > "createdAt"`)
    .where('datedAt', '>', now)
    .where('mailboxId', 'is', null)
    .where('status', '=', 'queued');
}

/** Returns true when mail of the domain is scheduled for later than `now`, in Unix milliseconds. */
export async function hasScheduledMail(
  tx: Tx,
  domain: { domainId: DomainRow['id']; now: number },
): Promise<boolean> {
  return (await scheduledMail(tx, domain).select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Returns the number of scheduled emails of a domain. */
export const countScheduled = defineRead(
  'domains.countScheduled',
  async (tx, domain: { domainId: DomainRow['id']; now: number }): Promise<number> => {
    const count = scheduledMail(tx, domain).select((select) => select.fn.countAll<number>().as('count'));
    return (await count.executeTakeFirstOrThrow()).count;
  },
);

/** Returns the number of broadcasts from a domain that are scheduled, being sent or paused. */
export async function countBroadcasts(tx: Tx, domainId: DomainRow['id']): Promise<number> {
  const { count } = await tx
    .selectFrom('broadcastRuns')
    .innerJoin('broadcasts', 'broadcasts.id', 'broadcastRuns.broadcastId')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('broadcastRuns.domainId', '=', domainId)
    .where('broadcastRuns.endedAt', 'is', null)
    .where('broadcasts.status', 'in', ['scheduled', 'sending', 'paused'])
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns deleted domains without mail in the spool. It reads all open mail only when there are candidates. */
export const listUnneeded = defineRead(
  'domains.listUnneeded',
  async (tx, { deletedBefore }: { deletedBefore: number }): Promise<DomainRow['id'][]> => {
    const deleted = await tx
      .selectFrom('domains')
      .select('id')
      .where('deletedAt', '<', deletedBefore)
      .execute();
    if (deleted.length === 0) return [];
    const needed = await listDomainsWithOpenMail(tx);
    return deleted.map(({ id }) => id).filter((id) => !needed.has(id));
  },
);

/** Returns the ids of the domains, deleted or not, that have mail in the spool. It reads all open mail. */
async function listDomainsWithOpenMail(tx: Tx): Promise<Set<DomainRow['id'] | null>> {
  // Each condition is that of one index: recipientsDue, recipientsInFlight, recipientsHeld.
  const openMail = (state: ReturnType<typeof sql<boolean>>) =>
    tx
      .selectFrom('recipients')
      .innerJoin('messages', 'messages.id', 'recipients.messageId')
      .select('messages.domainId')
      .where(state);
  const owed = await openMail(sql<boolean>`state IN ('ready', 'deferred')`)
    .union(openMail(sql<boolean>`state = 'in_flight'`))
    .union(openMail(sql<boolean>`state = 'held'`))
    .execute();
  return new Set(owed.map(({ domainId }) => domainId));
}

export type PublishedKey = Pick<DomainRow, 'id' | 'name' | 'selector' | 'publicKey' | 'deletedAt'>;

/** Returns the keys of the domains of all tenants, and of deleted domains that still have mail in the spool. */
export const listPublishedKeys = defineRead(
  'domains.listPublishedKeys',
  async (tx, _input: object): Promise<PublishedKey[]> => {
    const keys = await tx
      .selectFrom('domains')
      .select(['id', 'name', 'selector', 'publicKey', 'deletedAt'])
      .orderBy('name')
      .orderBy('id')
      .execute();
    if (keys.every(({ deletedAt }) => deletedAt === null)) return keys;
    const needed = await listDomainsWithOpenMail(tx);
    return keys.filter(({ id, deletedAt }) => deletedAt === null || needed.has(id));
  },
);
