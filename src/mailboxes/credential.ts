/** The credentials that open a mailbox: its own password, and its app passwords. */
import type { App } from '../app.ts';
import type { AppPasswordRow, MailboxRow } from '../db/mailbox-tables.ts';
import { hasExpired } from './app-passwords/match.ts';
import { findAppPasswordById } from './app-passwords/store.ts';
import { findMailboxById } from './store.ts';

export type Credential = { kind: 'password' } | { kind: 'app-password'; row: AppPasswordRow };

export const OWN_PASSWORD: Credential = { kind: 'password' };

/** `limited`: too many attempts have failed; `unavailable`: too many logins wait. */
export type LoginRefusal = 'credentials' | 'limited' | 'suspended' | 'damaged' | 'unavailable';

/** A mailbox that somebody has logged in to. `mailbox` is the row as it was at that time. */
export type Login = {
  mailbox: MailboxRow;
  credential: Credential;
  /** Proof of the server for SCRAM, in base64, after a login by a proof (RFC 5802 section 3). */
  serverSignature?: string;
};
export type LoginResult = Login | { refused: LoginRefusal };

/** A credential as threads know it that serve sessions. */
export type SessionCredential = {
  id: 'password' | AppPasswordRow['id'];
  /** Time at which its sessions end, in Unix milliseconds; null when they do not end by themselves. */
  expiresAt: number | null;
};

/** Returns what a thread needs to know of a credential. */
export function sessionCredential(credential: Credential): SessionCredential {
  if (credential.kind === 'password') return { id: 'password', expiresAt: null };
  return { id: credential.row.id, expiresAt: credential.row.expiresAt };
}

/** Returns a login with the present row of its mailbox, or the reason why it does not stand any more. */
export async function renewLogin(app: Pick<App, 'db' | 'clock'>, login: Login): Promise<LoginResult> {
  const mailbox = await findMailboxById(app.db.read, login.mailbox.id);
  if (!mailbox || !(await isValid(app, mailbox, login))) return { refused: 'credentials' };
  if (mailbox.status !== 'active') return { refused: mailbox.status };
  return { mailbox, credential: login.credential };
}

async function isValid(
  app: Pick<App, 'db' | 'clock'>,
  { passwordHash, passwordLogin }: MailboxRow,
  { mailbox: before, credential }: Login,
): Promise<boolean> {
  if (credential.kind === 'password') return passwordLogin === 1 && passwordHash === before.passwordHash;
  const row = await findAppPasswordById(app.db.read, credential.row.id);
  if (!row || hasExpired(row, app.clock.now())) return false;
  // A member that is suspended may not use shared mailboxes either.
  return row.memberId === null || (await findMailboxById(app.db.read, row.memberId))?.status !== 'suspended';
}
