/** The credentials that open a mailbox: its own password, its app passwords, and the API keys that name it. */
import { hash } from 'node:crypto';
import type { SessionCredential } from '../accounts/session-credential.ts';
import type { App } from '../app.ts';
import type { AppPasswordRow, MailboxRow } from '../db/mailbox-tables.ts';
import type { ApiKeyRow, TenantStatus } from '../db/tenant-tables.ts';
import { isId } from '../system/ids.ts';
import { findKeyById, findTenantStatus } from '../tenants/store.ts';
import { hasExpired } from './app-passwords/match.ts';
import { findAppPasswordById } from './app-passwords/store.ts';
import { findMailboxById } from './store.ts';

export type Credential =
  | { kind: 'password' }
  | { kind: 'app-password'; row: AppPasswordRow }
  | { kind: 'api-key'; row: ApiKeyRow };

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

/** Returns what a thread needs to know of a credential. */
export function sessionCredential(credential: Credential): SessionCredential {
  if (credential.kind === 'password') return { id: 'password', expiresAt: null };
  return { id: credential.row.id, expiresAt: credential.row.expiresAt };
}

/** Names a login, so that a thread can keep it: nothing in it helps to guess the password. */
export type LoginMark = {
  mailboxId: MailboxRow['id'];
  credential: SessionCredential['id'];
  /** Digest of the stored hash of the mailbox's own password, which a new password changes. */
  passwordDigest: string;
};

/** Returns what names a login. */
export function markOf({ mailbox, credential }: Login): LoginMark {
  const { id } = sessionCredential(credential);
  return { mailboxId: mailbox.id, credential: id, passwordDigest: digestOf(mailbox) };
}

function digestOf({ passwordHash }: MailboxRow): string {
  return hash('sha256', passwordHash ?? '', 'base64');
}

/** Returns a login with the present rows, or the reason why it does not stand any more. */
export function renewLogin(app: Pick<App, 'db' | 'clock'>, login: Login): Promise<LoginResult> {
  return renewMarked(app, markOf(login));
}

/** Finds the rows that a login depends on. */
type LoginRows = {
  findMailbox(id: MailboxRow['id']): Promise<MailboxRow | undefined>;
  findTenantStatus(id: MailboxRow['tenantId']): Promise<TenantStatus | undefined>;
  findAppPassword(id: AppPasswordRow['id']): Promise<AppPasswordRow | undefined>;
  findApiKey(id: ApiKeyRow['id']): Promise<ApiKeyRow | undefined>;
};

/** Returns the login that a mark names, as `renewLogin` does. */
export function renewMarked(app: Pick<App, 'db' | 'clock'>, mark: LoginMark): Promise<LoginResult> {
  const { read } = app.db;
  const rows: LoginRows = {
    findMailbox: (id) => findMailboxById(read, id),
    findTenantStatus: (id) => findTenantStatus(read, id),
    findAppPassword: (id) => findAppPasswordById(read, id),
    findApiKey: (id) => findKeyById(read, id),
  };
  return renewFromRows(rows, mark, app.clock.now());
}

/** Returns the login that a mark names, from its rows, or the reason why it does not stand any more. `now` is in Unix milliseconds. */
export async function renewFromRows(rows: LoginRows, mark: LoginMark, now: number): Promise<LoginResult> {
  const mailbox = await rows.findMailbox(mark.mailboxId);
  const credential = mailbox && (await findCredential(rows, mailbox, { ...mark, now }));
  if (!credential || (await rows.findTenantStatus(mailbox.tenantId)) === 'deleting')
    return { refused: 'credentials' };
  if (mailbox.status !== 'active') return { refused: mailbox.status };
  return { mailbox, credential };
}

async function findCredential(
  rows: LoginRows,
  mailbox: MailboxRow,
  { credential: id, passwordDigest, now }: LoginMark & { now: number },
): Promise<Credential | undefined> {
  if (id === 'password')
    return mailbox.passwordLogin === 1 && digestOf(mailbox) === passwordDigest ? OWN_PASSWORD : undefined;
  const found = isKeyId(id) ? await findKey(rows, mailbox, id) : await findPassword(rows, id);
  if (!found || hasExpired(found.row, now)) return undefined;
  const { memberId } = found.row;
  // A member that is suspended may not use shared mailboxes either.
  const isSuspended = memberId !== null && (await rows.findMailbox(memberId))?.status === 'suspended';
  return isSuspended ? undefined : found;
}

function isKeyId(id: AppPasswordRow['id'] | ApiKeyRow['id']): id is ApiKeyRow['id'] {
  return isId('key', id);
}

async function findPassword(rows: LoginRows, id: AppPasswordRow['id']) {
  const row = await rows.findAppPassword(id);
  return row && ({ kind: 'app-password', row } as const);
}

async function findKey(rows: LoginRows, mailbox: MailboxRow, id: ApiKeyRow['id']) {
  const row = await rows.findApiKey(id);
  const isOfMailbox = row?.mailboxId === mailbox.id && row.revokedAt === null;
  return isOfMailbox ? ({ kind: 'api-key', row } as const) : undefined;
}
