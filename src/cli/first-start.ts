/**
 * Creates the tenant `default` and a test key at the first start on a data directory, so that the operator can send at
 * once.
 */
import type { App } from '../app.ts';
import { newId } from '../system/ids.ts';
import { createApiKey } from '../tenants/keys.ts';
import { findTenantByName, insertTenant, listApiKeys } from '../tenants/store.ts';

export type FirstStart =
  | { kind: 'not-first' }
  | { kind: 'key-made'; testKey: string }
  /** No key was created, because it would be shown only in a log. */
  | { kind: 'no-key' };

const FIRST_TENANT = { name: 'default', plan: 'unlimited' };

/**
 * Creates the tenant and the key when the database has no key. If the start is interrupted in between, the next start
 * completes it.
 */
export async function prepareFirstStart(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  { showKey }: { showKey: boolean },
): Promise<FirstStart> {
  if ((await listApiKeys(app.db.read)).length > 0) return { kind: 'not-first' };
  if (!showKey) return { kind: 'no-key' };
  const now = app.clock.now();
  const tenant =
    (await findTenantByName(app.db.read, FIRST_TENANT.name)) ??
    (await app.db.commit(insertTenant, { ...FIRST_TENANT, id: newId('ten', now), createdAt: now }));
  const { token } = await createApiKey(app, {
    tenantId: tenant.id,
    name: 'first test key',
    mode: 'test',
    permission: 'full_access',
    expiresAt: null,
  });
  return { kind: 'key-made', testKey: token };
}
