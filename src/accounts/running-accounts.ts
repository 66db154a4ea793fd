/** The accounts that are open at the moment, as the API changes them. What serves accounts implements it, and main.ts connects the two. */
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { AppError } from '../system/errors.ts';
import { type JunkSenders, NO_JUNK } from './junk-senders.ts';
import type { SessionSource } from './mail-session.ts';
import type { MailboxMessages } from './messages/calls.ts';
import type { SessionCredential } from './session-credential.ts';

/** The list of sessions, and `disconnect`, are about the sessions of all protocols. */
export type RunningAccounts = SessionSource & {
  /** The messages, for programs that act for their owner. */
  messages: MailboxMessages;
  /**
   * Ends all sessions of a mailbox and closes its files. It resolves when nothing uses the folder any more, and at once when the
   * account is not open.
   */
  close(id: MailboxRow['id']): Promise<void>;
  /** Ends the sessions of a mailbox that were opened with this credential. */
  endSessions(id: MailboxRow['id'], credential: SessionCredential['id']): Promise<void>;
  /**
   * Returns who has sent the newest mail in the folder for spam. It is for the owner of the mailbox alone.
   * @throws AppError unavailable when the mailbox is damaged or busy
   */
  listJunkSenders(mailbox: MailboxRow): Promise<JunkSenders>;
  /** Tells an open account its new settings. Sessions that are open follow them from their next command on. */
  configure(mailbox: MailboxRow): Promise<void>;
};

/** Nothing is open where no accounts are served. */
export const noAccounts: RunningAccounts = {
  close: async () => {},
  endSessions: async () => {},
  configure: async () => {},
  listSessions: async () => [],
  disconnect: async () => 0,
  listJunkSenders: async () => NO_JUNK,
  messages: {
    call: async () => {
      throw new AppError('unavailable', 'The mailboxes are not open');
    },
  },
};
