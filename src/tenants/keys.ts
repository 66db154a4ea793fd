/**
 * API keys consist of a prefix, 8 characters by which a key is found, and 32 more. 40 characters of base62 have 238
 * random bits, so a plain SHA-256 protects them at rest.
 */
import { hash, randomInt } from 'node:crypto';
import type { App } from '../app.ts';
import type { Mode } from '../db/tables.ts';
import type { ApiKeyRow, Permission } from '../db/tenant-tables.ts';
import { newId } from '../system/ids.ts';
import {
  endApiKey,
  getKeyInUse,
  insertApiKey,
  type KeyChange,
  type KeyOwner,
  revokeApiKey,
  updateApiKey,
} from './store.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const HINT_CHARACTERS = 8;
const SECRET_CHARACTERS = 32;

export type NewKey = {
  tenantId: ApiKeyRow['tenantId'];
  name: string;
  mode: Mode;
  permission: Permission;
  /** The one domain that the key may send from. By default it may send from any. */
  domainId?: ApiKeyRow['domainId'];
  /** The addresses from which the key may be used (allowed-ips.ts). By default it may be used from anywhere. */
  allowedIps?: readonly string[] | null;
  /** Time of expiry in Unix milliseconds; null for a key that never expires. */
  expiresAt: number | null;
  /** Mail of the key that waits for approval. By default none does. */
  requiresApproval?: ApiKeyRow['requiresApproval'];
  /** The one mailbox whose messages the key reaches. By default the key reaches no mailbox. */
  mailboxId?: ApiKeyRow['mailboxId'];
  /** The mailbox of the member that the key is for, where the mailbox is shared. */
  memberId?: ApiKeyRow['memberId'];
};

/**
 * Creates a key. Only the returned row contains the token.
 *
 * @throws AppError validation_error when the domain does not belong to the tenant, or it has the maximum number of
 * keys
 */
export async function createApiKey(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  {
    domainId = null,
    allowedIps = null,
    requiresApproval = null,
    mailboxId = null,
    memberId = null,
    ...key
  }: NewKey,
): Promise<{ key: ApiKeyRow; token: string }> {
  const prefix = key.mode === 'live' ? app.config.keys.livePrefix : app.config.keys.testPrefix;
  const body = Array.from(
    { length: HINT_CHARACTERS + SECRET_CHARACTERS },
    () => ALPHABET[randomInt(62)],
  ).join('');
  const token = prefix + body;
  const now = app.clock.now();
  const row: ApiKeyRow = {
    ...key,
    id: newId('key', now),
    hint: body.slice(0, HINT_CHARACTERS),
    tokenHash: hashToken(token),
    domainId,
    allowedIps: allowedIps && JSON.stringify(allowedIps),
    createdAt: now,
    lastUsedAt: null,
    revokedAt: null,
    requiresApproval,
    mailboxId,
    memberId,
  };
  await app.db.commit(insertApiKey, row);
  return { key: row, token };
}

/**
 * Changes a key at the request of its tenant. Requests and sessions that use it follow the change at once.
 *
 * @throws AppError not_found, also for a key of another mode
 */
export async function changeKey(
  app: Pick<App, 'db' | 'wakeups'>,
  owner: KeyOwner,
  { id, change }: { id: string; change: KeyChange },
): Promise<ApiKeyRow> {
  if (Object.keys(change).length === 0) return getKeyInUse(app.db.read, owner, id);
  const row = await app.db.commit(updateApiKey, { owner, id, change });
  app.wakeups.notify('tenants');
  return row;
}

/**
 * Revokes a key. It is refused from now on, also where this process has it in memory.
 *
 * @throws AppError not_found
 */
export async function revokeKey(
  app: Pick<App, 'db' | 'clock' | 'wakeups'>,
  id: ApiKeyRow['id'],
): Promise<ApiKeyRow> {
  const row = await app.db.commit(revokeApiKey, { id, now: app.clock.now() });
  tellOfEnd(app, id);
  return row;
}

/**
 * Deletes a key at the request of its tenant. It is refused from now on and no longer shown.
 *
 * @throws AppError not_found, also for a key of another mode
 */
export async function deleteKey(
  app: Pick<App, 'db' | 'clock' | 'wakeups'>,
  owner: KeyOwner,
  id: string,
): Promise<void> {
  await app.db.commit(endApiKey, { owner, id, now: app.clock.now() });
  tellOfEnd(app, id);
}

/** Has keys in memory forgotten, and then asked for again by the sessions that were opened with this one. */
function tellOfEnd({ wakeups }: Pick<App, 'wakeups'>, id: string): void {
  wakeups.notify('tenants');
  wakeups.notify('logins', [id]);
}

/** Returns the mode and the hint of a token, by which it is found; undefined for text without the form of a key. */
export function readToken(
  config: Pick<App['config'], 'keys'>,
  token: string,
): { mode: Mode; hint: string } | undefined {
  const { livePrefix, testPrefix } = config.keys;
  const mode = token.startsWith(livePrefix) ? 'live' : token.startsWith(testPrefix) ? 'test' : undefined;
  if (!mode) return undefined;
  const body = token.slice((mode === 'live' ? livePrefix : testPrefix).length);
  if (body.length !== HINT_CHARACTERS + SECRET_CHARACTERS) return undefined;
  return { mode, hint: body.slice(0, HINT_CHARACTERS) };
}

/** Returns the SHA-256 hash of a token, in the form in which it is stored. */
export function hashToken(token: string): string {
  return hash('sha256', token);
}
