/**
 * Ends the connections of submission whose logins do not stand any more: the password or the key was changed or revoked or has expired, or
 * the mailbox was suspended or deleted.
 */
import type { App } from '../app.ts';
import { runAt } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import type { User } from './users/user.ts';

type WatchedUser = Pick<User, 'id' | 'expiresAt' | 'findEnd'>;

export type OpenLogins = {
  /** Calls `end` once the login of a user has ended. Returns what stops this. */
  watch(user: WatchedUser, end: () => void): () => void;
  close(): void;
};

/** Returns the watch over logins, without any. */
export function createOpenLogins(app: Pick<App, 'clock' | 'wakeups' | 'log'>): OpenLogins {
  /** A function for each login that asks about it, by the id of the mailbox or of the API key. */
  const watched = new Map<string, Set<() => void>>();
  const close = app.wakeups.listen('logins', (ids) => {
    for (const id of ids ?? watched.keys()) for (const ask of watched.get(id) ?? []) ask();
  });

  async function ask({ findEnd }: WatchedUser, end: () => void): Promise<void> {
    try {
      if (await findEnd()) end();
    } catch (error) {
      // Each message asks again. A mailbox that is damaged ends no login.
      if (!(error instanceof AppError)) app.log.error({ err: error }, 'a login could not be checked');
    }
  }

  return {
    watch(user, end) {
      const { id, expiresAt } = user;
      const asks = watched.get(id) ?? new Set();
      const again = () => void ask(user, end);
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
