/**
 * Stores the addresses outside with which owners of mailboxes set new passwords, and the last link that was mailed to each. All SQL of this
 * table is here. A link is stored together with its mail, and using it is one write, so that it works once.
 */
import { insertBlob } from '../../blobs/store.ts';
import type { MailboxRecoveryRow, MailboxRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, findRow, putRow, updateRows } from '../../db/rows.ts';
import type { BlobRow, MessageRow } from '../../db/tables.ts';
import { enqueue, type NewRecipient } from '../../queue/store.ts';
import { notFound } from '../../system/errors.ts';
import { updateMailbox } from '../store.ts';

type MailboxId = MailboxRow['id'];

/** Returns the address of a mailbox; undefined when it has none. */
export function findRecovery(tx: Tx, mailboxId: MailboxId): Promise<MailboxRecoveryRow | undefined> {
  return findRow(tx, 'mailboxRecoveries', { mailboxId });
}

/** The rows of a mail that has a link, or tells what a link has done. */
type Mail = { blob: BlobRow; message: MessageRow; recipients: readonly NewRecipient[] };

type LinkUse = { linkHash: string; now: number };

/** Returns the row whose link this is, while the link can be used. */
export async function findRecoveryByLink(
  tx: Tx,
  { linkHash, now }: LinkUse,
): Promise<MailboxRecoveryRow | undefined> {
  const row = await findRow(tx, 'mailboxRecoveries', { linkHash });
  return row && (row.linkExpiresAt ?? 0) > now ? row : undefined;
}

/** A link with the mail that has it. */
type MailedLink = { linkHash: string; linkExpiresAt: number; mail: Mail };

/** Stores an address that is not confirmed yet, in the place of another one, with the mail that asks for its confirmation. */
export const putRecovery = defineWrite(
  'mailboxes.putRecovery',
  async (
    tx,
    { mail, ...row }: MailedLink & Pick<MailboxRecoveryRow, 'mailboxId' | 'address' | 'createdAt'>,
  ): Promise<void> => {
    await putRow(tx, 'mailboxRecoveries', { ...row, confirmedAt: null });
    await queueMail(tx, mail);
  },
);

/** Stores a link for a new password with its mail, unless the address has changed meanwhile. */
export const putRecoveryLink = defineWrite(
  'mailboxes.putRecoveryLink',
  async (
    tx,
    { mailboxId, address, mail, ...link }: MailedLink & Pick<MailboxRecoveryRow, 'mailboxId' | 'address'>,
  ): Promise<void> => {
    const row = await findRecovery(tx, mailboxId);
    if (row?.address !== address || row.confirmedAt === null) throw notFound('Address');
    await updateRows(tx, 'mailboxRecoveries', { set: link, where: { mailboxId } });
    await queueMail(tx, mail);
  },
);

/**
 * Uses a link up: an address that was not confirmed is confirmed by it.
 * @throws AppError not_found for a link that does not work any more
 */
async function redeem(tx: Tx, use: LinkUse): Promise<void> {
  const row = await findRecoveryByLink(tx, use);
  if (!row) throw notFound('Link');
  const set = { linkHash: null, linkExpiresAt: null, confirmedAt: row.confirmedAt ?? use.now };
  await updateRows(tx, 'mailboxRecoveries', { set, where: { mailboxId: row.mailboxId } });
}

/** A use of a link, with the mail that tells the mailbox of it. Nothing changes of which the mailbox is not told. */
type ToldUse = LinkUse & { notice: Mail };

/**
 * Confirms the address of a link.
 * @throws AppError not_found
 */
export const confirmByLink = defineWrite(
  'mailboxes.confirmByRecoveryLink',
  async (tx, { notice, ...use }: ToldUse): Promise<void> => {
    await redeem(tx, use);
    await queueMail(tx, notice);
  },
);

type Reset = ToldUse & {
  mailbox: Pick<MailboxRow, 'id' | 'tenantId'>;
  password: Pick<MailboxRow, 'passwordHash' | 'scramVerifier'>;
};

/**
 * Sets the new password of a link. A process that is killed before leaves the link as it is.
 * @throws AppError not_found
 */
export const resetByLink = defineWrite(
  'mailboxes.resetByRecoveryLink',
  async (tx, { mailbox, password, notice, ...use }: Reset): Promise<void> => {
    await redeem(tx, use);
    await updateMailbox.run(tx, { ...mailbox, change: password, now: use.now });
    await queueMail(tx, notice);
  },
);

/** Removes the address of a mailbox. */
export const deleteRecovery = defineWrite(
  'mailboxes.deleteRecovery',
  async (tx, { mailboxId }: { mailboxId: MailboxId }): Promise<void> => {
    await deleteRows(tx, 'mailboxRecoveries', { mailboxId });
  },
);

async function queueMail(tx: Tx, { blob, message, recipients }: Mail): Promise<void> {
  await insertBlob(tx, blob);
  await enqueue(tx, message, recipients);
}
