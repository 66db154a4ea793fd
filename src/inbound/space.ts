/**
 * The limits of mail that no tenant receives. They are compared when a client names a recipient, and once more in the write that
 * accepts the message, because many messages can be on their way at the same time.
 */
import type { ReceivedRecipientRow } from '../db/inbound-tables.ts';
import type { Tx } from '../db/operation.ts';
import { hasInstallationQuotaFor } from '../tenants/stored-mail/store.ts';
import { listReceivedSizes } from './store.ts';

type Recipient = Pick<ReceivedRecipientRow, 'kind' | 'targetId'>;

/**
 * Maximum size of a message to an address of this installation that takes reports or bounces. A packed report of 10 MB is smaller, and
 * servers shorten the messages that they return.
 */
export const MAX_RETURNED_BYTES = 10 * 1024 * 1024;
/** Kinds of recipients whose mail is read here, by programs. */
const RETURNED_KINDS: ReadonlySet<string> = new Set(['bounce', 'complaint', 'report', 'unsubscribe']);

/**
 * Maximum size of the received mail that the installation itself stores, in MB, and of this mail when another message to the
 * postmaster, or a report, arrives. Anybody can write to these addresses; bounces and complaints, which need a token, keep the
 * other half.
 */
export const MAX_INSTALLATION_MEGABYTES = 2_048;
export const MAX_POSTMASTER_MEGABYTES = MAX_INSTALLATION_MEGABYTES / 2;

/**
 * Maximum number and total size of the messages that are received for one email at its own addresses: bounces and complaints, and
 * mail of a reader who unsubscribes. Whoever got an email has these addresses and could fill the space of all others with them. An
 * email has at most 50 recipients, each with a few reports of delays and one bounce.
 */
export const MAX_ANSWERS = 500;
export const MAX_ANSWER_BYTES = 40 * 1024 * 1024;
/** Kinds of recipients whose target belongs to one email. */
const ANSWER_KINDS: ReadonlySet<string> = new Set(['bounce', 'complaint', 'unsubscribe']);

/**
 * Returns true when the email of the recipient has got as many messages as it may. An address that is registered with a provider
 * serves all emails, and has the limit of the installation alone.
 */
export async function hasTooManyAnswers(tx: Tx, { kind, targetId }: Recipient): Promise<boolean> {
  if (!ANSWER_KINDS.has(kind) || !targetId.startsWith('em_')) return false;
  const sizes = await listReceivedSizes(tx, { targetId }, MAX_ANSWERS);
  return sizes.length >= MAX_ANSWERS || sizes.reduce((sum, size) => sum + size, 0) >= MAX_ANSWER_BYTES;
}

/** Returns the maximum size of a message to these recipients, in bytes. The server has a limit of its own for all messages. */
export function maxBytesFor(recipients: readonly Pick<Recipient, 'kind'>[]): number {
  return recipients.some(({ kind }) => RETURNED_KINDS.has(kind))
    ? MAX_RETURNED_BYTES
    : Number.POSITIVE_INFINITY;
}

/** Returns true when the installation may store another message to the recipient. */
export function hasInstallationSpaceFor(tx: Tx, { kind }: Recipient, sizeBytes?: number): Promise<boolean> {
  const isPublic = kind === 'postmaster' || kind === 'report';
  return hasInstallationQuotaFor(
    tx,
    isPublic ? MAX_POSTMASTER_MEGABYTES : MAX_INSTALLATION_MEGABYTES,
    sizeBytes,
  );
}
