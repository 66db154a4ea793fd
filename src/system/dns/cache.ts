/**
 * What DNS has said, for as long as it may be kept. Time is the monotonic clock's, so a wall clock that is set neither
 * ages nor freezes it. While no resolver answers, what was found serves on for a while (RFC 8767); a failure never takes
 * its place, and is itself remembered for moments only.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Finding } from './answer.ts';
import type { Question, RecordData } from './message.ts';

export type Resolve = (question: Question) => Promise<Finding>;

type Known = Exclude<Finding, { kind: 'failed' }>;
type Kept = { finding: Known; expiresAt: number };
type Entry = { kept: Kept | undefined; failure: { reason: string; until: number } | undefined };

/** engine.md 1. */
const MAX_ENTRIES = 65_536;
/** So that a domain with large records, or thousands of them, does not take the memory those of others need. */
const MAX_BYTES = 32 * 1_024 * 1_024;
/** Measured: an answer of one address. */
const ENTRY_BYTES = 400;
const RECORD_BYTES = 100;

/** engine.md 4. */
const MAX_STALE_MS = 3_600_000;
/** RFC 8767 4: the TTL of a stale answer; 5: no sooner is the resolver asked again. */
const STALE_TTL_MS = 30_000;
/** Long enough that a burst of mail asks once, short enough that a resolver that is back is soon believed (RFC 2308 7). */
const FAILURE_MS = 5_000;

/** `cached` asks only for what is not known; `fresh` always asks, by `resolveFresh`, and what it learns is kept as well. */
export function createCache(
  clock: Clock,
  resolve: Resolve,
  resolveFresh: Resolve = resolve,
): { cached: Resolve; fresh: Resolve } {
  const entries = new LRUCache<string, Entry>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    sizeCalculation: sizeOf,
  });

  function keep(key: string, finding: Known): void {
    if (finding.ttlMs === 0) entries.delete(key);
    else
      entries.set(key, { kept: { finding, expiresAt: clock.elapsed() + finding.ttlMs }, failure: undefined });
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
    const kept = entries.get(key)?.kept;
    const stale = staleFinding(clock, kept);
    const until = clock.elapsed() + (stale ? STALE_TTL_MS : FAILURE_MS);
    entries.set(key, { kept, failure: { reason: finding.reason, until } });
    return stale ?? finding;
  }

  return { cached, fresh: (question) => learn(question, resolveFresh) };
}

function keyOf({ type, name }: Question): string {
  return `${type} ${name}`;
}

function remembered(clock: Clock, entry: Entry | undefined): Finding | undefined {
  if (entry === undefined) return undefined;
  const { kept, failure } = entry;
  const leftMs = kept ? kept.expiresAt - clock.elapsed() : 0;
  if (kept && leftMs > 0) return { ...kept.finding, ttlMs: leftMs };
  if (!failure || clock.elapsed() >= failure.until) return undefined;
  return staleFinding(clock, kept) ?? { kind: 'failed', reason: failure.reason };
}

/** Only records: that a name does not exist is a verdict, and nobody bounces mail on an old one. */
function staleFinding(clock: Clock, kept: Kept | undefined): Finding | undefined {
  if (kept?.finding.kind !== 'found' || clock.elapsed() >= kept.expiresAt + MAX_STALE_MS) return undefined;
  return { ...kept.finding, ttlMs: STALE_TTL_MS };
}

function sizeOf({ kept }: Entry): number {
  const records = kept?.finding.kind === 'found' ? kept.finding.records : [];
  return records.reduce((sum, record) => sum + RECORD_BYTES + textBytes(record), ENTRY_BYTES);
}

/** Two bytes a character at most. */
function textBytes(record: RecordData): number {
  return record.type === 'TXT' ? 2 * record.text.length : 0;
}
