/**
 * Caches the DKIM keys that mail is signed with. They are unsealed and parsed once, because both cost more than the
 * lookup.
 */
import { createPrivateKey } from 'node:crypto';
import type { App } from '../app.ts';
import type { DkimKey } from '../mail/dkim/sign.ts';
import { createLru } from '../system/lru.ts';
import { installationKeyOf } from './installation/key.ts';
import { findSealedKey } from './sending-store.ts';
import type { Domain } from './store.ts';

export type SigningKeys = {
  /**
   * Returns the key of a domain. It also finds the key of a deleted domain, for its mail in the spool. Returns
   * undefined for an unknown domain.
   */
  find(domainId: Domain['id']): Promise<DkimKey | undefined>;
  /** Returns the key of the installation itself (installation/key.ts). */
  ofInstallation(): Promise<DkimKey>;
};

/**
 * Maximum number of parsed keys in memory, some kilobytes each. A domain's key never changes, so a cached key is
 * always right.
 */
const MAX_KEYS = 1_000;

/** Returns the cache of signing keys. */
export function createSigningKeys(app: Pick<App, 'db' | 'sealer' | 'config' | 'clock'>): SigningKeys {
  const keys = createLru<Domain['id'], DkimKey>(MAX_KEYS);
  return {
    async find(domainId) {
      const known = keys.get(domainId);
      if (known) return known;
      const row = await findSealedKey(app.db.read, domainId);
      if (!row) return undefined;
      const pem = app.sealer.open(row.privateKeySealed, [row.tenantId, domainId]);
      const key: DkimKey = {
        domain: row.name,
        selector: row.selector,
        algorithm: 'rsa-sha256',
        privateKey: createPrivateKey(pem),
      };
      keys.set(domainId, key);
      return key;
    },
    ofInstallation: () => installationKeyOf(app),
  };
}
