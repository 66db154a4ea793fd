/** The sites of the schedule by their keys, and when each is looked at again. */
import { IndexedHeap } from '../../system/indexed-heap.ts';
import { createLru } from '../../system/lru.ts';
import type { Destination, FullWarmUp } from './events.ts';
import { type Queue, Site } from './site.ts';

/** Maximum number of sites without mail whose pace is remembered. */
const MAX_REMEMBERED = 10_000;
/** Maximum time for which first attempts wait until their way is looked up again, because the wall clock may be set meanwhile. */
const MAX_WAIT_MS = 3_600_000;

/** A queue that is at no site until a time: it has no source, or no retries while its source takes nothing else. */
type WaitingQueue = { queue: Queue; reason: string; wakeAt: number };

export class SiteTable {
  /** Sites with mail or a session. */
  readonly #sites = new Map<string, Site>();
  readonly #remembered = createLru<string, Site>(MAX_REMEMBERED);
  readonly #waiting = new Map<string, WaitingQueue>();
  readonly #alarms = new IndexedHeap<Site | WaitingQueue>(
    (left, right) => (left.wakeAt ?? 0) < (right.wakeAt ?? 0),
  );

  /** Number of sites with mail or a session. */
  get size(): number {
    return this.#sites.size;
  }

  /** Time at which the first site or queue is looked at again. */
  get wakeAt(): number | undefined {
    return this.#alarms.first?.wakeAt;
  }

  /** Returns the sites with mail or a session. */
  all(): Site[] {
    return [...this.#sites.values()];
  }

  /** Returns the site, also one that has no mail and is remembered. */
  find(key: string): Site | undefined {
    return this.#sites.get(key) ?? this.#remembered.get(key);
  }

  /** Yields the keys of the queues at a site. One that changes its place during the iteration may occur again. */
  *queuesAt(key: string): Iterable<string> {
    for (const { name } of this.find(key)?.queues.all() ?? []) yield name.key;
  }

  /** Returns the site of a way, with its latest limits and rests. */
  at({ site: key, pool, limits, rests }: Extract<Destination, { kind: 'site' }>, now: number): Site {
    const site = this.find(key) ?? new Site(key, pool, limits);
    if (!this.#sites.has(key)) {
      this.#sites.set(key, site);
      this.#remembered.delete(key);
    }
    site.shape(limits, rests, now);
    return site;
  }

  /** Sets the time at which the site is looked at again. */
  setAlarm(site: Site, now: number): void {
    this.#alarms.delete(site);
    site.wakeAt = site.nextChangeAt(now);
    if (site.wakeAt !== undefined) this.#alarms.add(site);
  }

  /** Removes a site that has no mail and no session. Returns false when it was not there. */
  remove(site: Site): boolean {
    if (!this.#sites.delete(site.key)) return false;
    this.#alarms.delete(site);
    if (site.pool === 'remote') this.#remembered.set(site.key, site);
    return true;
  }

  /** Lets a queue wait, which is at no site. */
  wait(queue: Queue, { until, reason }: { until: number; reason: string }): void {
    const waiting = { queue, reason, wakeAt: until };
    this.#waiting.set(queue.name.key, waiting);
    this.#alarms.add(waiting);
  }

  /** Removes a queue from its site, whose source takes no more first attempts on this day. */
  waitForNextDay(queue: Queue, { until, reason }: FullWarmUp, now: number): void {
    queue.site?.queues.remove(queue);
    queue.site = undefined;
    this.wait(queue, { until: Math.min(until, now + MAX_WAIT_MS), reason });
  }

  waitOf(key: string): WaitingQueue | undefined {
    return this.#waiting.get(key);
  }

  /** Ends the wait of the queue. Returns false when it did not wait. */
  endWaitOf({ name }: Queue): boolean {
    const waiting = this.#waiting.get(name.key);
    if (waiting) this.#endWait(waiting);
    return waiting !== undefined;
  }

  /** Ends the waits of all queues, and returns these. */
  endWaits(): Queue[] {
    return [...this.#waiting.values()].map((waiting) => this.#endWait(waiting));
  }

  /** Returns the next site or queue whose time has come. The wait of the queue has ended. */
  nextDue(now: number): Site | Queue | undefined {
    const { first } = this.#alarms;
    if (!first || (first.wakeAt ?? 0) > now) return undefined;
    return first instanceof Site ? first : this.#endWait(first);
  }

  #endWait(waiting: WaitingQueue): Queue {
    this.#waiting.delete(waiting.queue.name.key);
    this.#alarms.delete(waiting);
    return waiting.queue;
  }
}
