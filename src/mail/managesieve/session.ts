/**
 * The interface between the ManageSieve server (RFC 5804) and the product. The server owns the wire: states, strings and the order of
 * responses. A session decides who may log in, and keeps and checks the scripts. The server calls one method of a connection at a time,
 * except `close`.
 */

import type { Client } from '../connection/client.ts';
import type { LoginSession } from '../sasl/mechanisms.ts';

/** Response codes of RFC 5804 section 1.3 that sessions use. */
type ResponseCode =
  | 'ACTIVE'
  | 'ALREADYEXISTS'
  | 'AUTH-TOO-WEAK'
  | 'ENCRYPT-NEEDED'
  | 'NONEXISTENT'
  | 'QUOTA/MAXSCRIPTS'
  | 'QUOTA/MAXSIZE'
  | 'TRYLATER';

/** Refuses a command with NO, or ends the connection with BYE. The text is for people, and may have several lines. */
export type Refusal = { refused: 'NO' | 'BYE'; code?: ResponseCode; text: string };

/** Answer of a method that returns nothing when it has succeeded. */
type Outcome = Promise<Refusal | undefined>;

/** A new connection. An error that a method throws is logged and refused, unless it is an AppError. */
export type Session = LoginSession<Client, Account | Refusal> & {
  /** The connection has ended, in whatever state. No other call follows. */
  close(): void;
};

export type OpenSession = () => Session;

/** The scripts of the user who has logged in. Names are checked by the session. */
export type Account = {
  /** Name of the user, which the capability OWNER shows (RFC 5804 section 1.7). */
  owner: string;
  /** Resolves when the login has ended. The connection then ends, whatever it does. */
  ended?: Promise<Refusal>;
  list(): Promise<readonly { name: string; isActive: boolean }[] | Refusal>;
  get(name: string): Promise<{ content: string } | Refusal>;
  /** Refuses a script of this name and size that could not be stored. */
  haveSpace(name: string, sizeBytes: number): Outcome;
  /** Checks and stores a script. */
  put(name: string, content: string): Outcome;
  /** Checks a script without storing it. */
  check(content: string): Outcome;
  /** Makes a script the active one; an empty name makes none active. */
  setActive(name: string): Outcome;
  delete(name: string): Outcome;
  rename(from: string, to: string): Outcome;
};

/** Returns true for an answer that refuses. */
export function isRefusal(answer: object | undefined): answer is Refusal {
  return answer !== undefined && 'refused' in answer;
}
