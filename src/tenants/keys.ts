/**
 * API keys: prefix + 8 characters by which a key is found + 32 more. 40 characters of base62 carry 238 random bits, so a
 * plain SHA-256 keeps them safe at rest (security.md 2.30).
 */
import { hash, randomInt } from 'node:crypto';
import type { App } from '../app.ts';
import type { ApiKeyRow, Mode, Permission } from '../db/tables.ts';
import { newId } from '../system/ids.ts';
import { endApiKey, insertApiKey, type KeyOwner, revokeApiKey } from './store.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const HINT_CHARACTERS = 8;
const SECRET_CHARACTERS = 32;

export type NewKey = {
  tenantId: ApiKeyRow['tenantId'];
  name: string;
  mode: Mode;
  permission: Permission;
  /** The one domain it may send from; any by default. */
  domainId?: ApiKeyRow['domainId'];
  /** Where it may be used from (allowed-ips.ts); anywhere by default. */
  allowedIps?: readonly string[] | null;
  /** Epoch milliseconds. */
  expiresAt: number | null;
};

/**
 * Makes a key. The token is in the answer and nowhere else.
 *
 * @throws AppError validation_error when the domain is not the tenant's, or it has as many keys as it may
 */
export async function createApiKey(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  { domainId = null, allowedIps = null, ...key }: NewKey,
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
  };
  await app.db.commit(insertApiKey, row);
  return { key: row, token };
}

/**
 * From here on the key opens nothing, wherever in this process it is remembered.
 *
 * @throws AppError not_found
 */
export async function revokeKey(
  app: Pick<App, 'db' | 'clock' | 'wakeups'>,
  id: ApiKeyRow['id'],
): Promise<ApiKeyRow> {
  const row = await app.db.commit(revokeApiKey, { id, now: app.clock.now() });
  app.wakeups.notify('tenants');
  return row;
}

/**
 * The same, asked for by its tenant: from here on there is no such key.
 *
 * @throws AppError not_found, also for one of another mode
 */
export async function deleteKey(
  app: Pick<App, 'db' | 'clock' | 'wakeups'>,
  owner: KeyOwner,
  id: string,
): Promise<void> {
  await app.db.commit(endApiKey, { owner, id, now: app.clock.now() });
  app.wakeups.notify('tenants');
}

/** The mode its prefix names and the characters it is found by; undefined when it has not the shape of a key. */
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

export function hashToken(token: string): string {
  return hash('sha256', token);
}
