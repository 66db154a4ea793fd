/** The sessions of mail programs, as their lists show them. A session is a connection that has logged in to a mailbox. */
import { randomText } from '../system/ids.ts';
import type { Protocol } from './protocols.ts';
import type { SessionCredential } from './session-credential.ts';

export type MailSession = {
  /** Random, and unique among all sessions. */
  id: string;
  protocol: Protocol;
  /** IP address of the client. */
  address: string;
  credential: SessionCredential['id'];
  /** Time of the login, in Unix milliseconds. */
  beganAt: number;
  /** Name and version of the mail program as it has given them (RFC 2971), which nobody has verified; null when it has not. */
  client: string | null;
};

/** Lists and ends the sessions of mailboxes that one part of the daemon serves. */
export type SessionSource = {
  /** Returns the sessions of a mailbox, the newest first, at most `MAX_LISTED_SESSIONS`. */
  listSessions(mailboxId: string): Promise<MailSession[]>;
  /** Ends one session of a mailbox, or all when none is named. Returns their number. */
  disconnect(mailboxId: string, sessionId?: string): Promise<number>;
};

/** Maximum number of sessions of a mailbox that are listed. People have a dozen; a program that goes wrong has thousands. */
export const MAX_LISTED_SESSIONS = 200;
/** Maximum length of the name of a program. Names are shown in a table. */
const MAX_CLIENT_CHARACTERS = 100;

/** Tells a client that whoever owns or manages the mailbox has ended its session. */
export const DISCONNECTED_TEXT = 'This session was ended on request';

/** Returns a session that begins now. */
export function beginMailSession(
  { protocol, address, credential }: Pick<MailSession, 'protocol' | 'address' | 'credential'>,
  now: number,
): MailSession {
  return { id: randomText(), protocol, address, credential, beganAt: now, client: null };
}

/** Returns the sessions in the order and the number of a list. */
export function listedSessions(sessions: readonly MailSession[]): MailSession[] {
  return sessions.toSorted((one, other) => other.beganAt - one.beganAt).slice(0, MAX_LISTED_SESSIONS);
}

/** Returns the name and the version of a program from the fields of ID; null when it has no name. */
export function programOf({ name = '', version = '' }: Readonly<Record<string, string>>): string | null {
  const text = `${name} ${version}`
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, MAX_CLIENT_CHARACTERS);
  return name.trim() === '' ? null : text;
}
