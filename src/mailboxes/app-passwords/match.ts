/** Finds the app password that somebody has entered. */
import { timingSafeEqual } from 'node:crypto';
import type { Protocol } from '../../accounts/protocols.ts';
import type { App } from '../../app.ts';
import type { AppPasswordRow, MailboxRow } from '../../db/mailbox-tables.ts';
import { allowsPeer } from '../../tenants/allowed-ips.ts';
import { hashSecret, hintOf, readSecret } from './secret.ts';
import { listAppPasswordsByHint, listAppPasswordsOf } from './store.ts';

/** `address` is the IP address of the client. */
export type Use = { protocol: Protocol; address: string };

/**
 * Returns the app password of a mailbox with this text, if it may be used in this way. A mailbox that does not exist is asked about in
 * the same way, and costs as much.
 */
export async function findEntered(
  app: Pick<App, 'db' | 'clock'>,
  mailboxId: MailboxRow['id'] | undefined,
  { password, ...use }: Use & { password: string },
): Promise<AppPasswordRow | undefined> {
  const secret = readSecret(password);
  if (secret === undefined) return undefined;
  const hash = Buffer.from(hashSecret(secret));
  const rows = await listAppPasswordsByHint(app.db.read, hintOf(secret));
  const row = rows.find(({ secretHash }) => timingSafeEqual(Buffer.from(secretHash), hash));
  return row?.mailboxId === mailboxId && row && isUsable(row, { ...use, now: app.clock.now() })
    ? row
    : undefined;
}

/** Returns the app passwords of a mailbox that may be used in this way. */
export async function listUsable(
  app: Pick<App, 'db' | 'clock'>,
  mailboxId: MailboxRow['id'],
  use: Use,
): Promise<AppPasswordRow[]> {
  const rows = await listAppPasswordsOf(app.db.read, mailboxId);
  const now = app.clock.now();
  return rows.filter((row) => isUsable(row, { ...use, now }));
}

/** Returns true when an app password may be used in this protocol, from this address, and at this time in Unix milliseconds. */
function isUsable(row: AppPasswordRow, { protocol, address, now }: Use & { now: number }): boolean {
  return !hasExpired(row, now) && protocolsOf(row).includes(protocol) && allowsPeer(row, address);
}

/** Returns true when a credential has expired at this time, in Unix milliseconds. */
export function hasExpired({ expiresAt }: Pick<AppPasswordRow, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** Returns the protocols in which an app password is valid. */
export function protocolsOf({ protocols }: AppPasswordRow): Protocol[] {
  return JSON.parse(protocols);
}
