/**
 * Ends the connections whose logins do not stand any more: the password or the key was changed or revoked or has expired, or the mailbox
 * was suspended or deleted. Protocols use it whose sessions are not in the threads of accounts: submission and ManageSieve.
 */
import { runAt } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import type { System } from '../system/system.ts';

/** A login that is watched. `End` is what its client is told when it has ended. */
export type WatchedLogin<End> = {
  /** Id of the mailbox or of the API key. */
  id: string;
  /** Time at which the login ends by itself, in Unix milliseconds; null when it does not. */
  expiresAt: number | null;
  /**
   * Returns undefined while the login stands.
   * @throws AppError unavailable while nobody can say
   */
  findEnd(): Promise<End | undefined>;
};

export type OpenLogins = {
  /** Calls `end` once a login has ended. Returns what stops this. */
  watch<End>(login: WatchedLogin<End>, end: (found: End) => void): () => void;
  close(): void;
};

/** Returns the watch over logins, without any. */
export function createOpenLogins(app: Pick<System, 'clock' | 'wakeups' | 'log'>): OpenLogins {
  /** A function for each login that asks about it, by the id of the mailbox or of the API key. */
  const watched = new Map<string, Set<() => void>>();
  const close = app.wakeups.listen('logins', (ids) => {
    for (const id of ids ?? watched.keys()) for (const ask of watched.get(id) ?? []) ask();
  });

  async function ask<End>({ findEnd }: WatchedLogin<End>, end: (found: End) => void): Promise<void> {
    try {
      const found = await findEnd();
      if (found !== undefined) end(found);
    } catch (error) {
      // Each message and each command asks again, so nothing is done after the end of a login that nobody could check now.
      if (!(error instanceof AppError)) app.log.error({ err: error }, 'a login could not be checked');
    }
  }

  return {
    watch(login, end) {
      const { id, expiresAt } = login;
      const asks = watched.get(id) ?? new Set();
      const again = () => void ask(login, end);
      watched.set(id, asks.add(again));
      const expiry = runAt(app.clock, expiresAt, again);
      // A credential may have been revoked after it was compared, when nothing watched it.
      again();
      return () => {
        expiry.cancel();
        asks.delete(again);
        if (asks.size === 0 && watched.get(id) === asks) watched.delete(id);
      };
    },
    close,
  };
}
