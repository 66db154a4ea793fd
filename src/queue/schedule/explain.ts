/** Says which limit keeps the mail of a site from leaving faster. */
import type { FullWarmUp } from './events.ts';
import type { Groups } from './groups.ts';
import type { LearnedState } from './learned.ts';
import type { SiteLimits } from './limits.ts';
import type { Pool } from './pool.ts';
import type { Queue, Session, Site } from './site.ts';

/**
 * The limit that binds. `none` means that the site has as many connections as its mail needs. `until` is a time of the monotonic
 * clock in milliseconds, null for a limit without an end.
 */
type Binding = {
  limit:
    | 'none'
    /** The site rests after failures, or because of a rule. */
    | 'rest'
    /** One message tries the site after a rest. */
    | 'probe'
    /** A claim has failed, for example because the disk is full. */
    | 'pause'
    | 'recipients_per_minute'
    | 'connections_per_minute'
    | 'group_connections'
    | 'connections'
    /** The site has taken no more connections so far. */
    | 'learned_connections'
    /** All connections of the daemon are open. */
    | 'all_connections';
  until: number | null;
  reason: string | null;
};

/** A session that is open: it waits for mail, sends, or takes no more mail and ends. */
export type SessionExplanation = {
  id: number;
  state: 'idle' | 'busy' | 'ending';
  /** The tenant that the connection counts for; null while it waits. */
  tenantId: string | null;
};

export type SiteExplanation = {
  site: string;
  limits: SiteLimits;
  /** Open sessions, those of them that wait for mail, and the maximum at present. */
  sessions: number;
  idleSessions: number;
  allowedConnections: number;
  connections: readonly SessionExplanation[];
  /** Messages that are claimed and that no session has taken. */
  claimed: number;
  /** Queues in which mail is due. */
  queues: number;
  binding: Binding;
  learned: LearnedState;
  restingTenants: readonly { tenantId: string; until: number; reason: string }[];
};

/** Says what the mail of a queue waits for: a source for all of it, a warm-up for first attempts, or the site. */
export type QueueExplanation = {
  noSource: { until: number; reason: string } | null;
  fullWarmUp: FullWarmUp | null;
  /** Undefined while the queue is at no site. */
  site: SiteExplanation | undefined;
};

type Situation = { pool: Pool; groups: Groups; now: number };

export function explainSite(site: Site, situation: Situation): SiteExplanation {
  const { now } = situation;
  return {
    site: site.key,
    limits: site.limits,
    sessions: site.sessions.size,
    idleSessions: [...site.sessions].filter(({ ready }) => ready !== undefined).length,
    allowedConnections: site.allowedConnections(now),
    connections: [...site.sessions].map(explainSession),
    claimed: site.ahead.length,
    queues: site.queues.size,
    binding: bindingOf(site, situation),
    learned: site.learned.stateAt(now),
    restingTenants: site.restingTenants(now),
  };
}

/** Explains a queue at its site, or one that waits for a way. */
export function explainQueue(
  { fullWarmUp }: Queue,
  {
    site,
    waiting,
  }: { site: SiteExplanation | undefined; waiting: { wakeAt: number; reason: string } | undefined },
): QueueExplanation {
  const noSource = waiting && !fullWarmUp ? { until: waiting.wakeAt, reason: waiting.reason } : null;
  return { noSource, fullWarmUp, site };
}

/** A session that can take the next message before the last one is settled is busy until then. */
function explainSession({ id, slot, ready, isEnding, isDismissed }: Session): SessionExplanation {
  const tenantId = slot.charge?.tenantId ?? null;
  const present = ready && tenantId === null ? 'idle' : 'busy';
  return { id, state: isEnding || isDismissed ? 'ending' : present, tenantId };
}

function bindingOf(site: Site, { pool, groups, now }: Situation): Binding {
  const rest = site.restAt(now);
  if (rest) return { limit: 'rest', until: rest.until, reason: rest.reason };
  if (site.pausedUntil > now) return binding('pause', site.pausedUntil);
  if (site.queues.size === 0 && site.ahead.length === 0) return binding('none');
  if (site.learned.isProbed) return binding('probe');
  if (site.claimableAt(now) > now) return binding('recipients_per_minute', site.claimableAt(now));
  const { connections, group } = site.limits;
  if (site.sessions.size >= connections) return binding('connections');
  if (site.sessions.size >= site.allowedConnections(now)) return binding('learned_connections');
  if (site.connectableAt(now) > now) return binding('connections_per_minute', site.connectableAt(now));
  if (!groups.mayOpen(group)) return binding('group_connections');
  return binding(pool.isFull ? 'all_connections' : 'none');
}

function binding(limit: Binding['limit'], until: number | null = null): Binding {
  return { limit, until, reason: null };
}
