/** Finds an API key by its token, and decides what it may be used for. HTTP requests and SMTP sessions share this. */
import type { App } from '../app.ts';
import type { Permission } from '../db/tenant-tables.ts';
import { AppError } from '../system/errors.ts';
import { createLru } from '../system/lru.ts';
import { allowsPeer } from './allowed-ips.ts';
import { readToken } from './keys.ts';
import type { KnownKeys } from './known-keys.ts';
import { type PlannedKey, recordKeyUse } from './store.ts';

/**
 * The permission that a route needs. `send` and `emails` are open to sending keys, `read` to all other keys, and
 * `any` to every key, for a route that checks more itself.
 */
export type Need = 'send' | 'emails' | 'read' | 'write' | 'any';

const PERMITS: Record<Permission, readonly Need[]> = {
  full_access: ['send', 'emails', 'read', 'write', 'any'],
  sending_access: ['send', 'emails', 'any'],
  read_only: ['emails', 'read', 'any'],
};

/** Minimum time between two writes of a key's `lastUsedAt`, which is shown to people. */
const USE_RECORDED_EVERY_MS = 60_000;
/** Maximum number of keys whose last use is remembered. A key beyond it is written more often. */
const MAX_RECORDED_KEYS = 10_000;

/**
 * Returns the key with this token.
 * @throws AppError invalid_api_key, also for a key that is revoked or has expired; restricted_api_key while its tenant is suspended
 */
export async function getValidKey(
  app: Pick<App, 'clock' | 'config'>,
  knownKeys: KnownKeys,
  token: string,
): Promise<PlannedKey> {
  const shape = readToken(app.config, token);
  if (!shape) throw invalidKey();
  const key = await knownKeys.find(token, shape.hint);
  if (!key || key.mode !== shape.mode || key.revokedAt !== null) throw invalidKey();
  if (key.expiresAt !== null && key.expiresAt <= app.clock.now()) throw invalidKey();
  if (key.tenantStatus === 'deleting') throw invalidKey();
  if (key.tenantStatus === 'suspended')
    throw new AppError(
      'restricted_api_key',
      'The operator of this server has suspended your account; ask the operator to resume it',
    );
  return key;
}

/** Returns the refusal of a text that is no valid key, which says nothing about it. */
export function invalidKey(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid');
}

/**
 * Checks that the key may be used from an IP address.
 * @throws AppError restricted_api_key
 */
export function requirePeer(key: Pick<PlannedKey, 'allowedIps'>, address: string): void {
  if (allowsPeer(key, address)) return;
  throw new AppError('restricted_api_key', `This API key may not be used from the address ${address}`);
}

/**
 * Checks that the key has a permission.
 * @throws AppError restricted_api_key
 */
export function requireNeed({ permission }: Pick<PlannedKey, 'permission'>, needs: Need): void {
  if (PERMITS[permission].includes(needs)) return;
  throw new AppError('restricted_api_key', `This API key (${permission}) does not permit this request`);
}

/**
 * Checks that the mail of a key does not need another approval than when its request began.
 * @throws AppError unavailable
 */
export function requireSameApproval(
  before: Pick<PlannedKey, 'requiresApproval'>,
  now: Pick<PlannedKey, 'requiresApproval'>,
): void {
  if (before.requiresApproval === now.requiresApproval) return;
  throw new AppError('unavailable', 'This API key was changed during the request; repeat the request', {
    retryAfterSeconds: 1,
  });
}

/** Returns the function that records, now and then, when a key was last used. */
export function createUseRecord(app: Pick<App, 'clock' | 'db'>): (key: Pick<PlannedKey, 'id'>) => void {
  const recordedAt = createLru<string, number>(MAX_RECORDED_KEYS);
  return ({ id }) => {
    const now = app.clock.now();
    if (now - (recordedAt.get(id) ?? 0) < USE_RECORDED_EVERY_MS) return;
    recordedAt.set(id, now);
    app.db.commitInBackground(recordKeyUse, { id, now });
  };
}
