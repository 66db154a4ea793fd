/**
 * Keeps strangers from occupying a listener. While more than `NEARLY_FULL_SHARE` of its connections are open, it is under stress: limits
 * are tight (listener.ts), and each newcomer ends one connection that has no login and no transaction. The queue of
 * `system/guards/eviction-queue.ts` chooses it.
 */
import type { Socket } from 'node:net';
import { addressNetwork } from '../../system/address-block.ts';
import type { Clock } from '../../system/clock.ts';
import { EvictionQueue } from '../../system/guards/eviction-queue.ts';
import { IndexedHeap } from '../../system/indexed-heap.ts';

/** Share of the maximum number of connections above which newcomers end others. */
const NEARLY_FULL_SHARE = 0.8;
/**
 * Age below which a connection is fresh: its client logs in or begins a transaction within seconds. It is ended only when the listener is
 * full, because otherwise whoever connects and leaves again and again could cut off each client before its login.
 */
const FRESH_MS = 5_000;
/** Time for which a connection is spared after a message of it was accepted: its client may bring the next one. */
const SPARED_MS = 30_000;
/**
 * Age from which on a transaction without a message may be ended when all other connections are fresh. Anybody can begin a transaction,
 * and clients bring their message within seconds.
 */
const STALLED_TRANSACTION_MS = 30_000;

/**
 * `waiting`: the client has neither logged in nor begun a transaction. `transaction`: it has named its sender. `protected`: it has logged
 * in or sends its message, and is never ended for another.
 */
export type SlotState = 'waiting' | 'transaction' | 'protected';

/** The connection of one client, as one of those that a listener has. */
export type Slot = {
  enter(state: SlotState): void;
  /** Notes that a message was accepted, which spares the connection for a while. */
  messageAccepted(): void;
  /** Counts the connection to the network of this address, which a proxy has named. */
  moveTo(address: string): void;
};

export type Occupancy = {
  /** True while more than `NEARLY_FULL_SHARE` of the maximum number of connections are open. */
  readonly isStressed: boolean;
  /** Counts a new connection until its socket has closed. `evict` must close the socket in this turn of the event loop. */
  add(connection: { socket: Socket; address: string; evict(): void }): Slot;
  /** Ends a connection for a newcomer while the listener is nearly full. Returns its socket; undefined when none was ended. */
  evictOne(): Socket | undefined;
};

/** Returns the occupancy of a listener without connections. */
export function createOccupancy(clock: Pick<Clock, 'elapsed'>, maxConnections: number): Occupancy {
  return new ListenerOccupancy(clock, maxConnections);
}

type NewConnection = Parameters<Occupancy['add']>[0];

type Entry = Omit<NewConnection, 'address'> & {
  state: SlotState;
  network: string;
  serial: number;
  /** Time from which on the entry waits in the queue of its state. */
  since: number;
  /** Time of the beginning, or of the last message that was accepted. */
  progressAt: number;
  sparedUntil: number;
};

class ListenerOccupancy implements Occupancy {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #maxConnections: number;
  #lastSerial = 0;
  readonly #entries = new Set<Entry>();
  readonly #waiting = new EvictionQueue<Entry>();
  readonly #transactions = new EvictionQueue<Entry>();
  /** Waiting connections that are spared. */
  readonly #spared = new IndexedHeap<Entry>((left, right) => left.sparedUntil < right.sparedUntil);

  constructor(clock: Pick<Clock, 'elapsed'>, maxConnections: number) {
    this.#clock = clock;
    this.#maxConnections = maxConnections;
  }

  get isStressed(): boolean {
    return this.#entries.size > this.#maxConnections * NEARLY_FULL_SHARE;
  }

  add({ socket, address, evict }: NewConnection): Slot {
    const now = this.#clock.elapsed();
    const times = { since: now, progressAt: now, sparedUntil: now };
    const who = { network: addressNetwork(address), serial: ++this.#lastSerial };
    const entry: Entry = { socket, evict, state: 'waiting', ...who, ...times };
    this.#entries.add(entry);
    this.#queue(entry);
    socket.once('close', () => this.#forget(entry));
    return {
      enter: (state) => {
        if (state !== entry.state) this.#change(entry, () => Object.assign(entry, { state }));
      },
      messageAccepted: () => this.#change(entry, () => this.#spare(entry)),
      moveTo: (other) => this.#change(entry, () => Object.assign(entry, { network: addressNetwork(other) })),
    };
  }

  evictOne(): Socket | undefined {
    if (!this.isStressed) return undefined;
    this.#endSparing();
    const entry = this.#after(this.#waiting.first, FRESH_MS) ?? (this.#isFull ? this.#lastResort : undefined);
    if (!entry) return undefined;
    this.#forget(entry);
    entry.evict();
    return entry.socket;
  }

  get #isFull(): boolean {
    return this.#entries.size >= this.#maxConnections;
  }

  /** The connection that ends for a newcomer to a full listener: a transaction that has stalled, or a fresh connection. */
  get #lastResort(): Entry | undefined {
    return this.#after(this.#transactions.first, STALLED_TRANSACTION_MS) ?? this.#waiting.first;
  }

  /** Returns the entry when it has waited in its queue for this time. */
  #after(entry: Entry | undefined, waitedMs: number): Entry | undefined {
    return entry && this.#clock.elapsed() - entry.since >= waitedMs ? entry : undefined;
  }

  #spare(entry: Entry): void {
    entry.progressAt = this.#clock.elapsed();
    entry.sparedUntil = entry.progressAt + SPARED_MS;
  }

  /** Queues those that are no longer spared. Each message that was accepted causes one step of it at most. */
  #endSparing(): void {
    const now = this.#clock.elapsed();
    for (let { first } = this.#spared; first && first.sparedUntil <= now; { first } = this.#spared) {
      this.#spared.delete(first);
      this.#queue(first);
    }
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry);
    this.#unqueue(entry);
  }

  #change(entry: Entry, change: () => void): void {
    if (!this.#entries.has(entry)) return;
    this.#unqueue(entry);
    change();
    this.#queue(entry);
  }

  #queue(entry: Entry): void {
    const now = this.#clock.elapsed();
    if (entry.state === 'protected') return;
    entry.since = entry.state === 'transaction' ? now : entry.progressAt;
    if (entry.state === 'transaction') this.#transactions.add(entry);
    else if (entry.sparedUntil > now) this.#spared.add(entry);
    else this.#waiting.add(entry);
  }

  #unqueue(entry: Entry): void {
    this.#transactions.delete(entry);
    this.#waiting.delete(entry);
    this.#spared.delete(entry);
  }
}
