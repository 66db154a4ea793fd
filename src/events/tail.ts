/**
 * Follows the event log for everybody who looks on: one read for all of them, four times a second, and none while nobody does. Emails, queue
 * and delivery know nothing of it.
 */
import type { App } from '../app.ts';
import { readNewest, readTail, type TailPage } from './tail-store.ts';

/** Time between two reads, which is also the time between two frames of a tail. */
export const TAIL_EVERY_MS = 250;
/** Maximum number of events of one read. What lies behind them is skipped, so that nobody looks on from further and further behind. */
const MAX_EVENTS_PER_READ = 2_000;
/** Pause after a read that has failed, for example because the database is busy. */
const PAUSE_AFTER_ERROR_MS = 5_000;

/** Called with new lines, the oldest first. `skipped` counts events that were passed over, of whatever tenant. */
export type Follower = (news: TailPage & { skipped: number }) => void;

export type EventTail = {
  /** Calls a follower for all events from now on. Returns the function that ends this. */
  follow(follower: Follower): Promise<() => void>;
  /** Returns the lines behind a position, at most `limit` of them. */
  since(position: number, limit: number): Promise<TailPage>;
  /** Returns the newest lines, at most `limit` of them. */
  newest(limit: number): Promise<TailPage>;
};

/** Returns a tail that nobody follows yet. */
export function createEventTail({ db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>): EventTail {
  const followers = new Set<Follower>();
  /** The beginning of the present following; undefined while nobody follows. */
  let begun: Promise<void> | undefined;
  let position = 0;

  const newestPosition = async () => (await db.query(readNewest, { limit: 1 })).position;

  async function begin(): Promise<void> {
    position = await newestPosition();
    clock.after(TAIL_EVERY_MS, () => void run());
  }

  async function read(): Promise<void> {
    const page = await db.query(readTail, { after: position, limit: MAX_EVENTS_PER_READ });
    const isFull = page.lines.length === MAX_EVENTS_PER_READ;
    position = isFull ? await newestPosition() : page.position;
    if (page.lines.length === 0) return;
    const skipped = position - page.position;
    for (const follower of [...followers]) follower({ lines: page.lines, position, skipped });
  }

  async function run(): Promise<void> {
    if (followers.size === 0) {
      begun = undefined;
      return;
    }
    let pauseMs = TAIL_EVERY_MS;
    try {
      await read();
    } catch (error) {
      log.warn({ err: error }, 'the event log could not be followed');
      pauseMs = PAUSE_AFTER_ERROR_MS;
    }
    clock.after(pauseMs, () => void run());
  }

  return {
    async follow(follower) {
      followers.add(follower);
      begun ??= begin();
      try {
        await begun;
      } catch (error) {
        followers.delete(follower);
        begun = undefined;
        throw error;
      }
      return () => void followers.delete(follower);
    },
    since: (after, limit) => db.query(readTail, { after, limit }),
    newest: (limit) => db.query(readNewest, { limit }),
  };
}
