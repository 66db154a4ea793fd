/**
 * Reads which domains the spool still needs: those with scheduled mail or broadcasts, and those whose mail is not delivered yet. This
 * module writes nothing.
 */
import { sql } from 'kysely';
import { defineRead, type Tx } from '../db/operation.ts';
import type { DomainKeyRow, DomainRow } from '../db/tables.ts';
import { listKeysOf } from './keys/store.ts';

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

/**
 * Returns deleted domains that nothing needs any more: no mail of them waits, and none of their keys is retired. The waiting mail of their
 * tenants is read only when there are candidates.
 */
export const listUnneeded = defineRead(
  'domains.listUnneeded',
  async (tx, { deletedBefore }: { deletedBefore: number }): Promise<DomainRow['id'][]> => {
    const deleted = await tx
      .selectFrom('domains')
      .select(['id', 'tenantId'])
      .where('deletedAt', '<', deletedBefore)
      .where((where) =>
        where.not(
          where.exists(
            where
              .selectFrom('domainKeys')
              .select('selector')
              .whereRef('domainKeys.domainId', '=', 'domains.id')
              .where('state', '=', 'retired'),
          ),
        ),
      )
      .execute();
    const unneeded: DomainRow['id'][] = [];
    for (const [tenantId, domains] of Map.groupBy(deleted, (domain) => domain.tenantId)) {
      const needed = await listDomainsWithOpenMail(tx, tenantId);
      unneeded.push(...domains.map(({ id }) => id).filter((id) => !needed.has(id)));
    }
    return unneeded;
  },
);

/**
 * Conditions of the indexes recipientsPutBack, recipientsByState and recipientsInFlight: mail that was attempted and waits, mail that is held,
 * and mail that is being sent. Mail that was held before its first attempt, for example until a person approves it, has no signature yet.
 */
const MAYBE_SIGNED = [
  sql<boolean>`recipients.state = 'ready' AND recipients.attempts > 0`,
  sql<boolean>`recipients.state NOT IN ('ready', 'in_flight', 'delivered') AND recipients.state IN ('deferred', 'held')`,
  sql<boolean>`recipients.state = 'in_flight'`,
] as const;
/** Condition of the index recipientsUntried. */
const UNTRIED = sql<boolean>`recipients.state = 'ready' AND recipients.attempts = 0`;

/** Selects the messages of a tenant with a recipient that the condition of an index finds. */
function openMail(tx: Tx, tenantId: DomainRow['tenantId'], state: typeof UNTRIED) {
  return tx
    .selectFrom('recipients')
    .innerJoin('messages', 'messages.id', 'recipients.messageId')
    .where('recipients.tenantId', '=', tenantId)
    .where('recipients.mode', 'in', ['live', 'test'])
    .where(state);
}

/** Returns the ids of the domains of a tenant, deleted or not, that have mail in the spool. It reads all waiting mail of the tenant. */
async function listDomainsWithOpenMail(
  tx: Tx,
  tenantId: DomainRow['tenantId'],
): Promise<Set<DomainRow['id'] | null>> {
  const found = new Set<DomainRow['id'] | null>();
  for (const state of [UNTRIED, ...MAYBE_SIGNED]) {
    const rows = await openMail(tx, tenantId, state).select('messages.domainId').distinct().execute();
    for (const { domainId } of rows) found.add(domainId);
  }
  return found;
}

type SignedMail = { tenantId: DomainRow['tenantId']; domainId: DomainRow['id']; selector: string };

/**
 * Returns true while mail waits whose stored signature names the selector. Its later attempts send the same signature. Other mail, such as
 * marketing mail, is signed at each attempt with the key of that time.
 */
export const hasMailSignedWith = defineRead(
  'domains.hasMailSignedWith',
  async (tx, { tenantId, domainId, selector }: SignedMail): Promise<boolean> => {
    for (const state of MAYBE_SIGNED) {
      const row = await openMail(tx, tenantId, state)
        .select('messages.id')
        .where('messages.domainId', '=', domainId)
        .where(sql<boolean>`instr(messages.signature, ${` s=${selector};`}) > 0`)
        .limit(1)
        .executeTakeFirst();
      if (row) return true;
    }
    return false;
  },
);

export type PublishedKey = Pick<DomainRow, 'id' | 'name' | 'deletedAt'> &
  Pick<DomainKeyRow, 'selector' | 'publicKey' | 'algorithm' | 'state'>;

/** A part of the domains, in the order of their ids: `after` is the last id of the part before. */
type KeySlice = { after: DomainRow['id'] | ''; limit: number };
export type KeyPage = { keys: PublishedKey[]; next: DomainRow['id'] | undefined };

/**
 * Returns the keys of some domains of all tenants. A deleted domain keeps its keys until it is removed, so that they stay published while
 * its mail waits. `next` begins the next part; undefined at the end.
 */
export const listPublishedKeys = defineRead(
  'domains.listPublishedKeys',
  async (tx, { after, limit }: KeySlice): Promise<KeyPage> => {
    const domains = await tx
      .selectFrom('domains')
      .select(['id', 'name', 'deletedAt', 'selector', 'publicKey'])
      .where('id', '>', after as DomainRow['id'])
      .orderBy('id')
      .limit(limit)
      .execute();
    const others = await listKeysOf(
      tx,
      domains.map(({ id }) => id),
    );
    const keys = domains.flatMap(({ selector, publicKey, ...domain }): PublishedKey[] => [
      { ...domain, selector, publicKey, algorithm: 'rsa', state: 'signing' },
      ...(others.get(domain.id) ?? [])
        .filter(({ state }) => state !== 'unused')
        .map(({ since: _since, ...key }) => ({ ...domain, ...key })),
    ]);
    return { keys, next: domains.length === limit ? domains.at(-1)?.id : undefined };
  },
);
