/**
 * Caches keys for some seconds, with the plan of their tenant, so that a request needs no query. Every change of a
 * key or a plan in this process sends a wake-up that empties the cache.
 */
import { timingSafeEqual } from 'node:crypto';
import type { App } from '../app.ts';
import { createLru } from '../system/lru.ts';
import { hashToken } from './keys.ts';
import { listApiKeysByHint, type PlannedKey } from './store.ts';

export type KnownKeys = {
  /** Returns the key with this token, also when it is revoked or expired. */
  find(token: string, hint: string): Promise<PlannedKey | undefined>;
  /** True while a key that was found at this moment needs no second look: no key and no plan has changed since. */
  isCurrent(moment: FindMoment): boolean;
  /** Returns the present moment, for a later `isCurrent`. */
  moment(): FindMoment;
  close(): void;
};

/** The number of changes so far, and the monotonic time. */
type FindMoment = { changes: number; readAt: number };

/** Maximum number of cached keys of all tenants together. */
const MAX_KEYS = 10_000;
/** Maximum age of a cached key. It bounds the effect of a wake-up that was not sent. */
const REMEMBERED_MS = 10_000;

/** Returns the cache of keys. */
export function createKnownKeys(app: Pick<App, 'db' | 'clock' | 'wakeups'>): KnownKeys {
  /** Keys by the hash of their token. Unknown tokens are not cached, because anybody can invent any number of them. */
  const known = createLru<string, { key: PlannedKey; readAt: number }>(MAX_KEYS);
  let changes = 0;
  const close = app.wakeups.listen('tenants', () => {
    changes += 1;
    known.clear();
  });
  return {
    async find(token, hint) {
      const hash = hashToken(token);
      const readAt = app.clock.elapsed();
      const one = known.get(hash);
      if (one && readAt - one.readAt < REMEMBERED_MS) return one.key;
      const bytes = Buffer.from(hash);
      const key = (await listApiKeysByHint(app.db.read, hint)).find((row) =>
        timingSafeEqual(Buffer.from(row.tokenHash), bytes),
      );
      if (key) known.set(hash, { key, readAt });
      return key;
    },
    isCurrent: (moment) => moment.changes === changes && app.clock.elapsed() - moment.readAt < REMEMBERED_MS,
    moment: () => ({ changes, readAt: app.clock.elapsed() }),
    close,
  };
}
