/**
 * Collects requests in memory and stores them in the background, many at a time. Requests never wait for it: what the writer cannot take is
 * left out, and so is what was collected when the process is killed.
 */
import { LRUCache } from 'lru-cache';
import type { App } from '../app.ts';
import type { RequestLogRow } from '../db/api-tables.ts';
import type { Timer } from '../system/clock.ts';
import { appendRequests, type LogOwner, packRequests } from './store.ts';

/** Maximum time that a request waits to be stored, in milliseconds. */
const FLUSH_MS = 1_000;
/** Number of waiting requests at which they are stored before their time. One write of them takes some milliseconds. */
const FULL_BATCH = 1_000;
/** Maximum number of waiting requests, about 1 MB, and of those of one tenant, so that a busy one leaves room to others. */
const MAX_WAITING = 4_000;
const MAX_WAITING_PER_TENANT = 2_000;
/** Number of stored requests of one owner after which the oldest are deleted again. */
const TRIM_EVERY = 500;
/** Time in which one request of a key is kept of those that were refused because there are too many. */
const REFUSAL_KEPT_EVERY_MS = 1_000;
/** Maximum number of owners whose stored requests are counted. One beyond it is trimmed more often. */
const MAX_COUNTED_OWNERS = 10_000;

type RecorderApp = Pick<App, 'clock' | 'db' | 'disk' | 'log' | 'metrics'>;

export class RequestRecorder {
  readonly #app: RecorderApp;
  readonly #dropped: Pick<ReturnType<App['metrics']['counter']>, 'inc'>;
  readonly #untrimmed = new LRUCache<string, number>({ max: MAX_COUNTED_OWNERS });
  /** Time of the last refusal of each key that was kept. */
  readonly #refusedAt = new LRUCache<string, number>({ max: MAX_COUNTED_OWNERS });
  #waiting: RequestLogRow[] = [];
  #waitingOf = new Map<string, number>();
  #timer: Timer | undefined;
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(app: RecorderApp) {
    this.#app = app;
    this.#dropped = app.metrics.counter(
      'request_log_dropped_total',
      'Requests that the request log has left out, because it was busy or the disk is nearly full.',
    );
  }

  /** Takes a request that was answered. Of those that a limit of the rate refuses, one a second of each key is kept: they would push out all others. */
  record(row: RequestLogRow): void {
    if (row.status === 429 && this.#isRepeated(row)) return;
    const ofTenant = this.#waitingOf.get(row.tenantId) ?? 0;
    if (this.#waiting.length >= MAX_WAITING || ofTenant >= MAX_WAITING_PER_TENANT) {
      this.#dropped.inc();
      return;
    }
    this.#waiting.push(row);
    this.#waitingOf.set(row.tenantId, ofTenant + 1);
    if (this.#waiting.length === FULL_BATCH) void this.flush();
    else this.#timer ??= this.#app.clock.after(FLUSH_MS, () => void this.flush());
  }

  #isRepeated({ keyId }: RequestLogRow): boolean {
    const { clock } = this.#app;
    const [lastAt, now] = [this.#refusedAt.get(keyId), clock.elapsed()];
    if (lastAt !== undefined && now - lastAt < REFUSAL_KEPT_EVERY_MS) return true;
    this.#refusedAt.set(keyId, now);
    return false;
  }

  /** Resolves when each request that was recorded before is stored or left out. */
  flush(): Promise<void> {
    this.#lastWrite = this.#lastWrite.then(() => this.#write());
    return this.#lastWrite;
  }

  async #write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const rows = this.#waiting;
    if (rows.length === 0) return;
    this.#waiting = [];
    this.#waitingOf = new Map();
    const { db, disk, log } = this.#app;
    if (disk.isBelowReserve) {
      this.#dropped.inc(rows.length);
      return;
    }
    try {
      await db.commit(appendRequests, { packed: packRequests(rows), trimmed: this.#ownersToTrim(rows) });
    } catch (error) {
      this.#dropped.inc(rows.length);
      log.warn({ err: error, requests: rows.length }, 'requests are missing in the request log');
    }
  }

  /** Counts the rows of each owner, and returns the owners that may have too many. Each one is trimmed after a start as well. */
  #ownersToTrim(rows: readonly RequestLogRow[]): LogOwner[] {
    const owners: LogOwner[] = [];
    for (const [key, added] of Map.groupBy(rows, ({ tenantId, mode }) => `${tenantId} ${mode}`)) {
      const count = (this.#untrimmed.get(key) ?? TRIM_EVERY) + added.length;
      this.#untrimmed.set(key, count < TRIM_EVERY ? count : 0);
      const [first] = added;
      if (first && count >= TRIM_EVERY) owners.push({ tenantId: first.tenantId, mode: first.mode });
    }
    return owners;
  }
}
