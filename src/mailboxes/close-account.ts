/** Names how the open account of a mailbox is closed. What serves accounts implements it, and main.ts connects the two. */
import type { MailboxRow } from '../db/mailbox-tables.ts';

/**
 * Ends all sessions of a mailbox and closes its files. It resolves when nothing uses the folder any more, and at once when the
 * account is not open.
 */
export type CloseAccount = (id: MailboxRow['id']) => Promise<void>;

/** Closes nothing, where no accounts are served. */
export const closeNoAccount: CloseAccount = async () => {};
