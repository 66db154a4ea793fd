/**
 * Keys seen in the last seconds, with the plan of their tenant, so that a request costs no query. Every change of a key or
 * a plan in this process is a notice that empties it.
 */
import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { App } from '../app.ts';
import { hashToken } from './keys.ts';
import { listApiKeysByHint, type PlannedKey } from './store.ts';

export type KnownKeys = {
  /** The key with this token, revoked and expired ones among them. */
  find(token: string, hint: string): Promise<PlannedKey | undefined>;
  /** True while a key that was found at this moment needs no second look: no key and no plan has changed since. */
  isCurrent(moment: FindMoment): boolean;
  /** Returns the present moment, for a later `isCurrent`. */
  moment(): FindMoment;
  close(): void;
};

/** The number of changes so far, and the monotonic time. */
type FindMoment = { changes: number; readAt: number };

const MAX_KEYS = 10_000;
/** Should a notice ever be forgotten. */
const REMEMBERED_MS = 10_000;

export function createKnownKeys(app: Pick<App, 'db' | 'clock' | 'wakeups'>): KnownKeys {
  /** By the hash of the token. What is no key is never remembered: anybody can invent any number of those. */
  const known = new LRUCache<string, { key: PlannedKey; readAt: number }>({ max: MAX_KEYS });
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
