/**
 * Caches the DKIM keys that mail is signed with. They are unsealed and parsed once, because both cost more than the
 * lookup.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { AnswerCache } from '../db/answer-cache.ts';
import type { DkimKey } from '../mail/dkim/sign.ts';
import { createLru } from '../system/lru.ts';
import type { QueryingApp } from '../thread-app.ts';
import { installationKeyOf } from './installation/key.ts';
import { findSealedKeys } from './sending-store.ts';
import type { Domain } from './store.ts';

export type SigningKeys = {
  /**
   * Returns the keys that sign mail of a domain: Ed25519 first, as in the example of RFC 8463 appendix A.3, then RSA. It also finds the
   * keys of a deleted domain, for its mail in the spool. An unknown domain has none.
   */
  find(domainId: Domain['id']): Promise<readonly DkimKey[]>;
  /** Returns the key of the installation itself (installation/key.ts). */
  ofInstallation(): Promise<DkimKey>;
};

/** Maximum number of parsed keys in memory, some kilobytes each. */
const MAX_KEYS = 1_000;
const ALGORITHMS = { rsa: 'rsa-sha256', ed25519: 'ed25519-sha256' } as const;

/** Returns the cache of signing keys. A new key signs from the commit on that says so. */
export function createSigningKeys(app: Pick<QueryingApp, 'db' | 'sealer' | 'config' | 'clock'>): SigningKeys {
  const parsed = createLru<string, KeyObject>(MAX_KEYS);
  const answers = new AnswerCache<Domain['id'], readonly DkimKey[]>({
    changes: app.db.changes,
    tables: ['domains', 'domainKeys'],
    maxSize: MAX_KEYS,
    sizeOf: (keys) => 1 + keys.length,
  });

  function open(sealed: string, place: readonly string[]): KeyObject {
    // Sealed text is different for each key, and opens in one place alone.
    const name = [...place, sealed].join(' ');
    const known = parsed.get(name);
    if (known) return known;
    const key = createPrivateKey(app.sealer.open(sealed, place));
    parsed.set(name, key);
    return key;
  }

  async function read(domainId: Domain['id']): Promise<DkimKey[]> {
    const found = await findSealedKeys(app.db.read, domainId);
    return found.map(({ tenantId, name, selector, algorithm, privateKeySealed }) => ({
      domain: name,
      selector,
      algorithm: ALGORITHMS[algorithm],
      privateKey: open(privateKeySealed, [tenantId, domainId]),
    }));
  }

  return {
    find: (domainId) => answers.get(domainId, () => read(domainId)),
    ofInstallation: () => installationKeyOf(app),
  };
}
