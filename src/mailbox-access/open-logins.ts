/**
 * Ends the connections whose logins do not stand any more: the password or the key was changed or revoked or has expired, or the mailbox
 * was suspended or deleted. It also lists the sessions of mailboxes, and ends those that their owners name. Protocols use it whose sessions
 * are not in the threads of accounts: submission and ManageSieve.
 */
import {
  beginMailSession,
  listedSessions,
  type MailSession,
  type SessionSource,
} from '../accounts/mail-session.ts';
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
  /** The session of a mailbox, with what its client is told when it is ended on request. Sessions of API keys are not listed. */
  listed?: { session: Parameters<typeof beginMailSession>[0]; disconnected: End } | undefined;
};

export type OpenLogins = SessionSource & {
  /** Calls `end` once a login has ended. Returns what stops this. */
  watch<End>(login: WatchedLogin<End>, end: (found: End) => void): () => void;
  close(): void;
};

/** Returns the watch over logins, without any. */
export function createOpenLogins(app: Pick<System, 'clock' | 'wakeups' | 'log'>): OpenLogins {
  /** The watches of the logins, by the id of the mailbox or of the API key. */
  const watched = new Map<string, Set<Watch>>();
  const close = app.wakeups.listen('logins', (ids) => {
    for (const id of ids ?? watched.keys()) for (const { again } of watched.get(id) ?? []) again();
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
      const { id, expiresAt, listed } = login;
      const asks = watched.get(id) ?? new Set();
      const again = () => void ask(login, end);
      const watch: Watch = {
        again,
        listed: listed && {
          session: beginMailSession(listed.session, app.clock.now()),
          disconnect: () => end(listed.disconnected),
        },
      };
      watched.set(id, asks.add(watch));
      const expiry = runAt(app.clock, expiresAt, again);
      // A credential may have been revoked after it was compared, when nothing watched it.
      again();
      return () => {
        expiry.cancel();
        asks.delete(watch);
        if (asks.size === 0 && watched.get(id) === asks) watched.delete(id);
      };
    },
    listSessions: async (id) =>
      listedSessions([...(watched.get(id) ?? [])].flatMap(({ listed }) => listed?.session ?? [])),
    async disconnect(id, sessionId) {
      const ended = [...(watched.get(id) ?? [])].filter(
        ({ listed }) => listed && (sessionId === undefined || listed.session.id === sessionId),
      );
      for (const watch of ended) {
        const { listed } = watch;
        // A client may take long to read its last reply, and is not listed meanwhile.
        watch.listed = undefined;
        listed?.disconnect();
      }
      return ended.length;
    },
    close,
  };
}

/** A watched login: `again` asks whether it still stands. */
type Watch = { again(): void; listed: { session: MailSession; disconnect(): void } | undefined };
