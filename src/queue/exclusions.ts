/**
 * Finds the recipients that a message must not be sent to: suppressed addresses, and for marketing mail the readers who
 * have opted out of its topic or have not confirmed. Accepting mail and every attempt to deliver it ask here.
 */
import { findOptedOut } from '../audiences/choices-store.ts';
import { findUnconfirmed } from '../audiences/opt-in/unconfirmed-store.ts';
import type { Tx } from '../db/operation.ts';
import type { MessageRow } from '../db/tables.ts';
import { findSuppressed } from '../suppressions/store.ts';
import { findTopic } from '../topics/store.ts';

/** Diagnostic that the API shows for a suppressed recipient. */
export const SUPPRESSED = 'The address is on the suppression list';
/** Diagnostic of a recipient who has opted out of the topic, or of all marketing mail. */
export const OPTED_OUT = 'The reader has unsubscribed';
/** Diagnostic of a recipient without a choice, or with an opt-out, for a topic whose default is opt-out. */
export const NOT_OPTED_IN = 'The reader has not opted in to the topic, or has unsubscribed';
/** Why the copy of a broadcast is canceled whose contact no longer exists. */
export const CONTACT_DELETED = 'The contact was deleted';
/** Diagnostic of a recipient who was asked to confirm the subscription and has not done so. */
const NOT_CONFIRMED = 'The reader has not confirmed the subscription';

type Question = Pick<MessageRow, 'kind' | 'topicId'> & { addresses: readonly string[] };

/** Why a recipient gets no mail, with the text that the API shows. */
export type Exclusion = { state: 'suppressed' | 'optedOut'; reason: string };

/**
 * Returns the excluded addresses, each as its `addressKey`, with the reason. Marketing mail without a topic is refused by
 * readers who left all of it. The reader of a topic that was deleted is asked for an opt-out alone, because the default of
 * the topic is no longer known.
 */
export async function findExclusions(
  tx: Tx,
  tenantId: MessageRow['tenantId'],
  { kind, topicId, addresses }: Question,
): Promise<ReadonlyMap<string, Exclusion>> {
  const suppressed = await findSuppressed(tx, tenantId, addresses);
  const excluded = new Map<string, Exclusion>(
    Array.from(suppressed, (address) => [address, { state: 'suppressed', reason: SUPPRESSED }]),
  );
  if (kind === 'transactional' || addresses.length === 0) return excluded;
  const topic = topicId === null ? undefined : await findTopic(tx, tenantId, topicId);
  const defaultOptIn = topic?.defaultOptIn !== 0;
  const reason = defaultOptIn ? OPTED_OUT : NOT_OPTED_IN;
  for (const address of await findOptedOut(tx, tenantId, { topicId, defaultOptIn, addresses }))
    if (!excluded.has(address)) excluded.set(address, { state: 'optedOut', reason });
  for (const address of await findUnconfirmed(tx, tenantId, addresses))
    if (!excluded.has(address)) excluded.set(address, { state: 'optedOut', reason: NOT_CONFIRMED });
  return excluded;
}
