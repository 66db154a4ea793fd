/** Reads the outbox of a mailbox: messages that wait for some of their recipients, and who has handed them in. It writes nothing. */
import { sql } from 'kysely';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { inSlice, type Page, readPage } from '../../db/page.ts';
import { type Param, statement } from '../../db/statement.ts';
import { isId } from '../../system/ids.ts';

type MailboxId = MailboxRow['id'];

/** Selects the messages with a recipient that waits, and whose message no server may have already. */
const hasWaiting = sql<boolean>`EXISTS (SELECT 1 FROM recipients
  WHERE recipients.messageId = messages.id AND recipients.state IN ('ready', 'deferred', 'held'))`;
/** Selects the messages that were held by their writer (RFC 4865). */
const wasHeld = sql<boolean>`messages.datedAt > messages.createdAt`;

function waitingOf(tx: Tx, mailboxId: MailboxId) {
  return (
    tx
      .selectFrom('messages')
      // Literal, for the partial index `messagesOfMailboxes`.
      .where(sql<boolean>`messages.mailboxId IS NOT NULL`)
      .where('messages.mailboxId', '=', mailboxId)
      .where(hasWaiting)
  );
}

/** Returns ids of waiting messages of a mailbox. */
export async function listUnsent(
  tx: Tx,
  { mailboxId, limit }: { mailboxId: MailboxId; limit: number },
): Promise<string[]> {
  const rows = await waitingOf(tx, mailboxId).select('messages.id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

function heldOf(tx: Tx, mailboxId: MailboxId) {
  return waitingOf(tx, mailboxId)
    .innerJoin('submittedMessages', 'submittedMessages.messageId', 'messages.id')
    .where(wasHeld);
}

/** Returns the different credentials with which the waiting messages of a mailbox were held. */
export async function listCredentialsOfHeld(tx: Tx, mailboxId: MailboxId): Promise<string[]> {
  const rows = await heldOf(tx, mailboxId).select('handedInWith').distinct().execute();
  return rows.flatMap(({ handedInWith }) => handedInWith ?? []);
}

type Held = { mailboxId: MailboxId; handedInWith: string; limit: number };

/** Returns ids of waiting messages of a mailbox that were held with this credential. */
export async function listHeldWith(tx: Tx, { mailboxId, handedInWith, limit }: Held): Promise<string[]> {
  const held = heldOf(tx, mailboxId).where('handedInWith', '=', handedInWith);
  return (await held.select('messages.id').limit(limit).execute()).map(({ id }) => id);
}

type Waiting = { id: string; sizeBytes: number; handedInWith: string | null };

/** Returns the newest waiting messages of a mailbox. */
export function listOutbox(
  tx: Tx,
  { mailboxId, limit }: { mailboxId: MailboxId; limit: number },
): Promise<Page<Waiting>> {
  const waiting = waitingOf(tx, mailboxId)
    .innerJoin('submittedMessages', 'submittedMessages.messageId', 'messages.id')
    .select(['messages.id', 'submittedMessages.sizeBytes', 'handedInWith']);
  return readPage({ limit }, (slice) => inSlice(waiting, 'messages.id', slice).execute());
}

/** The columns of a mailbox that decide whether its owner may send. */
export type Writer = Pick<MailboxRow, 'status' | 'passwordHash' | 'passwordLogin'>;

const writer = statement((db, param: Param<{ mailboxId: MailboxId }>) =>
  db
    .selectFrom('mailboxes')
    .select(['status', 'passwordHash', 'passwordLogin'])
    .where('id', '=', param('mailboxId')),
);

/** Returns the writer of a mailbox; undefined when the mailbox was deleted. */
export function findWriter(tx: Tx, mailboxId: MailboxId): Promise<Writer | undefined> {
  return writer.first(tx, { mailboxId });
}

const appPassword = statement((db, param: Param<{ id: string }>) =>
  db
    .selectFrom('appPasswords')
    .leftJoin('mailboxes', 'mailboxes.id', 'appPasswords.memberId')
    .select('mailboxes.status as memberStatus')
    .where('appPasswords.id', '=', param('id') as `apw_${string}`),
);

const apiKey = statement((db, param: Param<{ id: string }>) =>
  db
    .selectFrom('apiKeys')
    .leftJoin('mailboxes', 'mailboxes.id', 'apiKeys.memberId')
    .select('mailboxes.status as memberStatus')
    .where('apiKeys.id', '=', param('id') as `key_${string}`)
    .where('apiKeys.revokedAt', 'is', null),
);

/** Returns true while an app password or an API key is not revoked, nor the member suspended that it was issued to. */
export async function hasCredential(tx: Tx, id: string): Promise<boolean> {
  const found = await (isId('key', id) ? apiKey : appPassword).first(tx, { id });
  return found !== undefined && found.memberStatus !== 'suspended';
}
