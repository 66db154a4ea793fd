/** Finds the session of a token, and says whether it lasts. */
import type { App } from '../../app.ts';
import type { SessionRow } from '../../db/people-tables.ts';
import { DAY_MS, MINUTE_MS } from '../../system/clock.ts';
import { findSession, recordSessionUse } from './sessions-store.ts';
import { hashToken } from './tokens.ts';

/** Time without use after which a session ends before its time. */
const IDLE_MS = 7 * DAY_MS;
/** Minimum time between two writes of the time at which a session was last used. */
const USE_RECORDED_EVERY_MS = MINUTE_MS;
/**
 * Time for which a form of a session that has ended is kept for its owner. Meanwhile somebody with an old cookie can leave a draft there, and do
 * nothing else.
 */
const DRAFT_MS = 7 * DAY_MS;

export type SessionSearch = {
  /** Returns the session of a token while it lasts. */
  find(token: string): Promise<SessionRow | undefined>;
  /** Returns the session of a token while it lasts, without counting this as a use of it. */
  peek(token: string): Promise<SessionRow | undefined>;
  /** Returns the session of a token that has ended by time, as long as a draft may be kept for its owner. */
  findEnded(token: string): Promise<SessionRow | undefined>;
  /** Returns true for the token of a session, also of one that has expired. */
  knows(token: string): Promise<boolean>;
};

export function createSessionSearch({ clock, db }: Pick<App, 'clock' | 'db'>): SessionSearch {
  async function findAny(token: string): Promise<SessionRow | undefined> {
    const tokenHash = hashToken(token);
    return tokenHash === undefined ? undefined : findSession(db.read, tokenHash);
  }

  async function peek(token: string): Promise<SessionRow | undefined> {
    const session = await findAny(token);
    return session && endOf(session) > clock.now() ? session : undefined;
  }

  return {
    async find(token) {
      const session = await peek(token);
      const now = clock.now();
      if (session && now - session.lastUsedAt >= USE_RECORDED_EVERY_MS)
        db.commitInBackground(recordSessionUse, { id: session.id, now });
      return session;
    },
    peek,
    async findEnded(token) {
      const session = await findAny(token);
      if (session?.stage !== 'complete') return undefined;
      const endedMs = clock.now() - endOf(session);
      return endedMs >= 0 && endedMs <= DRAFT_MS ? session : undefined;
    },
    knows: async (token) => (await findAny(token)) !== undefined,
  };
}

/** Returns the time at which a session ends unless it is used, in Unix milliseconds. */
function endOf({ expiresAt, lastUsedAt }: SessionRow): number {
  return Math.min(expiresAt, lastUsedAt + IDLE_MS);
}
