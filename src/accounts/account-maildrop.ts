/** The maildrop of a session of POP3, as the thread of its account serves it (maildrop.ts) and that of its connection calls it. */
import type { Chunks, Refusal } from '../mail/pop3/session.ts';

/** Facts that a session learns when it opens a maildrop. Messages are in the order of their UIDs. */
export type MaildropListing = { uidValidity: number; uids: Uint32Array; sizes: Uint32Array };

/** The maildrop of one session. Its thread calls one method at a time, except `close`. */
export type AccountMaildrop = {
  /** Takes the maildrop. The refusal says that another session has it. */
  openMaildrop(): Promise<MaildropListing | Refusal>;
  /** Yields the octets of `count` messages from this index on, one message after the other. A refusal is about the next message. */
  retrieve(from: number, count: number): Chunks;
  /** Removes the messages with these indexes, in one commit, and releases the maildrop. @throws AppError when none was removed */
  quitMaildrop(indexes: readonly number[]): Promise<void>;
  close(): void;
};
