/**
 * The interface between the POP3 server and the product. The server owns the wire: states, lines, capabilities, which messages are
 * marked as deleted, and how a message is written. A `Session` decides who may log in. After the login, a `Maildrop` keeps the mail, in
 * the thread of its account. The server calls one method of a connection at a time, except `close`.
 */

import type { Handover } from '../access/handover.ts';
import type { Client } from '../connection/client.ts';
import type { LoginSession } from '../sasl/mechanisms.ts';

/**
 * Response codes: IN-USE is that of RFC 2449 section 8.1.2, AUTH and SYS are those of RFC 3206, and UTF8 is that of RFC 6856 section 5.
 */
type ResponseCode = 'AUTH' | 'IN-USE' | 'SYS/PERM' | 'SYS/TEMP' | 'UTF8';

/** Refuses a command with -ERR. The text is one line. */
export type Refusal = { refused: true; code?: ResponseCode; text: string };

/** A new connection. An error that a method throws is logged and refused, unless it is an AppError (refusal.ts). */
export type Session = LoginSession<Client, Admission | Refusal> & {
  /** The connection has ended, or was handed over. No other call follows. */
  close(): void;
};

/** A login that was accepted, whose maildrop is open: the number of its messages, and their size. */
export type Admission = { handover: Handover } & MaildropSize;
export type MaildropSize = { count: number; sizeBytes: number };

export type OpenSession = () => Session;

/** The messages of a user as they were at login. No other session has this maildrop. */
export type Maildrop = {
  /** Part of all unique ids. */
  uidValidity: number;
  /** Sizes and UIDs of the messages, in the order of their numbers. They do not change. */
  sizes: Uint32Array;
  uids: Uint32Array;
  /**
   * Returns the message at this index, from 0 on: the whole of it when it is in memory, as a buffer that the caller may change, and
   * otherwise what yields it while the client takes it. A refusal before the first octet is answered -ERR.
   */
  retrieve(index: number): Buffer | Chunks;
  /** Removes messages in one commit, or returns the refusal when none was removed, and lets other sessions have the maildrop. */
  quit(removed: readonly number[]): Promise<Refusal | undefined>;
  /** The connection has ended, and nothing is deleted. No other call follows. */
  close(): void;
};

/** Octets of a message, in pieces that the caller may change. A refusal means that the rest cannot be read. */
export type Chunks = AsyncGenerator<Buffer, Refusal | undefined, undefined>;

/** Returns true for an answer that refuses. */
export function isRefusal(answer: object | undefined): answer is Refusal {
  return answer !== undefined && 'refused' in answer;
}
