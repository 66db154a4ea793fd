/**
 * A lane: mail that waits in one line, of one tenant and one kind, for one domain. The rows are in the database; a lane
 * holds the next few in memory while there is work for it. Lanes take turns, so that a line however long, of another
 * tenant or for a host that does not answer, holds up nobody but itself.
 */
import type { MessageRow, Mode } from '../db/tables.ts';

/** Messages of a lane in memory, at most; the rest stays in the database (engine.md 4, memory). */
export const LANE_MESSAGES = 64;

export type LaneName = { mode: Mode; kind: MessageRow['kind']; tenantId: string; domain: string };

/** Test mail goes nowhere, wherever it is addressed to: one line for all of it. */
const NO_DOMAIN = '-';

export function laneOf({ mode, kind, tenantId }: Omit<LaneName, 'domain'>, domain: string): string {
  return `${mode} ${kind} ${tenantId} ${mode === 'live' ? domain : NO_DOMAIN}`;
}

export function readLane(key: string): LaneName {
  const [mode, kind, tenantId = '', domain = ''] = key.split(' ');
  return {
    mode: mode === 'live' ? 'live' : 'test',
    kind: kind === 'broadcast' ? 'broadcast' : 'transactional',
    tenantId,
    domain,
  };
}

/** Answers with the messages of up to `limit` recipients that are due in the lane, the longest waiting first, but for
 * those in `except`. */
export type ReadLane = (lane: string, limit: number, except: readonly string[]) => Promise<string[]>;

export class Lane {
  readonly key: string;
  readonly name: LaneName;
  /** Until when its route holds, on the monotonic clock. */
  routedUntil = 0;
  readonly #read: ReadLane;
  #waiting: string[] = [];
  /** Handed out, and not yet claimed on disk: a read still answers with them. */
  readonly #handedOut = new Set<string>();
  #mayHaveMore = true;

  constructor(key: string, read: ReadLane) {
    this.key = key;
    this.name = readLane(key);
    this.#read = read;
  }

  /** Whether nothing of it is due, in memory or on its way to disk. */
  get isDone(): boolean {
    return this.#waiting.length === 0 && this.#handedOut.size === 0 && !this.#mayHaveMore;
  }

  /** Whether some of it is on its way to disk. */
  get isBeingClaimed(): boolean {
    return this.#handedOut.size > 0;
  }

  /** Something fell due in the lane. */
  notify(): void {
    this.#mayHaveMore = true;
  }

  /** The next message to claim; undefined when nothing more is due, or is known to be until `claimed` is called. Rejects
   * when it could not be read, and may be asked again. */
  async next(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && this.#mayHaveMore) await this.#fill();
    const messageId = this.#waiting.shift();
    if (messageId !== undefined) this.#handedOut.add(messageId);
    return messageId;
  }

  /** The claim is on disk, or has failed. Either may have left some of the message's recipients in the line. */
  claimed(messageId: string): void {
    this.#handedOut.delete(messageId);
    this.#mayHaveMore = true;
  }

  async #fill(): Promise<void> {
    this.#mayHaveMore = false;
    const found = await this.#read(this.key, LANE_MESSAGES, [...this.#handedOut]).catch((error) => {
      this.#mayHaveMore = true;
      throw error;
    });
    if (found.length === LANE_MESSAGES) this.#mayHaveMore = true;
    this.#waiting = [...new Set(found)];
  }
}
