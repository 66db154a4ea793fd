/**
 * Adds up what a write counts, so that the write changes each counter once (counts/store.ts): a batch of 100 emails to one
 * provider is one change. A tally lives as long as its write.
 */

import type { MessageRow } from '../db/tables.ts';
import type { CountRow } from '../db/tracking-tables.ts';
import { DAY_MS } from '../system/clock.ts';
import { groupOf } from './mailbox-groups.ts';

export const COUNTERS = [
  ...(['accepted', 'delivered', 'bouncedPermanent', 'bouncedTransient', 'bouncedUndetermined'] as const),
  ...(['complained', 'delayed', 'suppressed', 'canceled', 'opened', 'uniqueOpened'] as const),
  ...(['machineOpened', 'clicked', 'uniqueClicked', 'machineClicked', 'unsubscribed'] as const),
] satisfies readonly (keyof CountRow)[];
export type Counter = (typeof COUNTERS)[number];

export const HOUR_MS = 3_600_000;
/** Lengths of the spans of time that have rows. */
export const SPAN_MS = { hour: HOUR_MS, day: DAY_MS } as const satisfies Record<CountRow['span'], number>;

/** Columns of a message that its counters are kept by. */
export type CountedMail = Pick<MessageRow, 'tenantId' | 'mode' | 'kind' | 'domainId' | 'broadcastId'>;

/** An event that counts. */
type Counted = {
  /** Address of the recipient, its domain in lower case. */
  to: string;
  /** Time of the event in Unix milliseconds. */
  at: number;
  counters: readonly Counter[];
};

/** Increments of one row for an hour, and of the row for its day. */
export type Increments = Omit<CountRow, 'span' | 'start' | Counter> & {
  /** Number of the hour since the beginning of 1970. */
  hour: number;
  by: Map<Counter, number>;
};

export class Tally {
  readonly #increments = new Map<string, Increments>();

  /** Counts an event of an email. */
  count({ tenantId, mode, kind, ...mail }: CountedMail, { to, at, counters }: Counted): void {
    if (counters.length === 0) return;
    const hour = Math.floor(at / HOUR_MS);
    const provider = groupOf(to);
    const domainId = mail.domainId ?? '';
    const broadcastId = mail.broadcastId ?? '';
    const name = `${tenantId} ${mode} ${kind} ${domainId} ${broadcastId} ${provider} ${hour}`;
    const known = this.#increments.get(name);
    const { by } = known ?? { by: new Map<Counter, number>() };
    for (const counter of counters) by.set(counter, (by.get(counter) ?? 0) + 1);
    if (!known)
      this.#increments.set(name, { tenantId, mode, kind, domainId, broadcastId, provider, hour, by });
  }

  /** Adds what another tally has counted, which forgets it. */
  add(other: Tally): void {
    for (const [name, increments] of other.#increments) {
      const known = this.#increments.get(name);
      if (!known) this.#increments.set(name, increments);
      else
        for (const [counter, times] of increments.by)
          known.by.set(counter, (known.by.get(counter) ?? 0) + times);
    }
    other.#increments.clear();
  }

  /** Returns what was counted since the last call, and forgets it. */
  take(): Increments[] {
    const all = [...this.#increments.values()];
    this.#increments.clear();
    return all;
  }
}
