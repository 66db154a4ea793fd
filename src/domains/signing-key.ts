/** The DKIM keys that mail is signed with: unsealed and parsed once, because both cost more than the lookup. */
import { createPrivateKey } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { App } from '../app.ts';
import type { DkimKey } from '../mail/dkim/sign.ts';
import { type Domain, findSealedKey } from './store.ts';

export type SigningKeys = {
  /** Also of a deleted domain, for mail it still owes; undefined when there never was such a domain. */
  find(domainId: Domain['id']): Promise<DkimKey | undefined>;
};

/** Keys kept parsed, some kilobytes each. A domain's key never changes, so none goes stale. */
const MAX_KEYS = 1_000;

export function createSigningKeys(app: Pick<App, 'db' | 'sealer'>): SigningKeys {
  const keys = new LRUCache<Domain['id'], DkimKey>({ max: MAX_KEYS });
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
  };
}
