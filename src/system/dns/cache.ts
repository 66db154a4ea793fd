/**
 * Caches DNS answers for their TTL. It uses the monotonic clock, so a wall clock that is set neither expires nor
 * extends entries. While no resolver answers, expired records are served for a limited time (RFC 8767). A failure
 * never replaces a cached answer, and is cached for seconds only.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Finding } from './answer.ts';
import type { Question, RecordData } from './message.ts';

/** Resolves one question. It never rejects. */
export type Resolve = (question: Question) => Promise<Finding>;

type Known = Exclude<Finding, { kind: 'failed' }>;
type Cached = { finding: Known; expiresAt: number };
type Entry = { cached: Cached | undefined; failure: { reason: string; until: number } | undefined };

/**
 * Maximum memory of the cache, about 65,000 addresses. It prevents a domain with large records, or with thousands of them, from evicting the
 * entries of other domains.
 */
const MAX_BYTES = 32 * 1_024 * 1_024;
/** Measured memory of an entry with one address. */
const ENTRY_BYTES = 400;
const RECORD_BYTES = 100;

/** Maximum time for which expired records are served, in milliseconds. */
const MAX_STALE_MS = 3_600_000;
/**
 * TTL of a stale answer (RFC 8767 section 4), and the minimum time between two attempts to refresh it (section 5).
 */
const STALE_TTL_MS = 30_000;
/**
 * Time for which a failure is cached: long enough that a burst of mail asks once, short enough that a recovered
 * resolver is used soon (RFC 2308 section 7).
 */
const FAILURE_MS = 5_000;

/**
 * Returns two resolvers over one cache. `cached` asks only about questions that are not cached. `fresh` always asks
 * through `resolveFresh`, and its answers are cached as well.
 */
export function createCache(
  clock: Clock,
  resolve: Resolve,
  resolveFresh: Resolve = resolve,
): { cached: Resolve; fresh: Resolve } {
  const entries = new LRUCache<string, Entry>({ maxSize: MAX_BYTES, sizeCalculation: sizeOf });

  function keep(key: string, finding: Known): void {
    if (finding.ttlMs === 0) entries.delete(key);
    else
      entries.set(key, {
        cached: { finding, expiresAt: clock.elapsed() + finding.ttlMs },
        failure: undefined,
      });
  }

  async function learn(question: Question, find: Resolve): Promise<Finding> {
    const finding = await find(question);
    if (finding.kind !== 'failed') keep(keyOf(question), finding);
    return finding;
  }

  async function cached(question: Question): Promise<Finding> {
    const key = keyOf(question);
    const known = remembered(clock, entries.get(key));
    if (known) return known;
    const finding = await learn(question, resolve);
    if (finding.kind !== 'failed') return finding;
    const cached = entries.get(key)?.cached;
    const stale = staleFinding(clock, cached);
    const until = clock.elapsed() + (stale ? STALE_TTL_MS : FAILURE_MS);
    entries.set(key, { cached, failure: { reason: finding.reason, until } });
    return stale ?? finding;
  }

  return { cached, fresh: (question) => learn(question, resolveFresh) };
}

function keyOf({ type, name }: Question): string {
  return `${type} ${name}`;
}

function remembered(clock: Clock, entry: Entry | undefined): Finding | undefined {
  if (entry === undefined) return undefined;
  const { cached, failure } = entry;
  const leftMs = cached ? cached.expiresAt - clock.elapsed() : 0;
  if (cached && leftMs > 0) return { ...cached.finding, ttlMs: leftMs };
  if (!failure || clock.elapsed() >= failure.until) return undefined;
  return staleFinding(clock, cached) ?? { kind: 'failed', reason: failure.reason };
}

/**
 * Returns expired records. It never returns an expired "does not exist": that is a verdict, and mail must not bounce
 * because of an outdated one.
 */
function staleFinding(clock: Clock, cached: Cached | undefined): Finding | undefined {
  if (cached?.finding.kind !== 'found' || clock.elapsed() >= cached.expiresAt + MAX_STALE_MS)
    return undefined;
  return { ...cached.finding, ttlMs: STALE_TTL_MS };
}

function sizeOf({ cached }: Entry): number {
  const records = cached?.finding.kind === 'found' ? cached.finding.records : [];
  return records.reduce((sum, record) => sum + RECORD_BYTES + textBytes(record), ENTRY_BYTES);
}

/** Returns the maximum size of a record's text, at two bytes a character. */
function textBytes(record: RecordData): number {
  return record.type === 'TXT' ? 2 * record.text.length : 0;
}
