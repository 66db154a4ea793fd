/**
 * The events that the schedule is told, and its decisions. Both are plain data. Times are milliseconds of the monotonic clock.
 */
import type { SiteLimits } from './limits.ts';

/** Mail of a band is served before that of others in a fixed proportion (queue-order.ts). */
export type Band = 'report' | 'transactional' | 'broadcast';

/** A delivery queue: the mail of one tenant for one domain. */
export type QueueName = { key: string; tenantId: string; band: Band };

/** Remote sites take connections; mail of local ones is answered without any. */
export type PoolName = 'remote' | 'local';

/**
 * Nothing of a site is claimed until then, or nothing of one tenant there. After a rest of the site one message tries it before
 * the others.
 */
export type Rest = { tenantId: string | null; until: number; reason: string };

/**
 * The source of a queue has sent all first attempts that its warm-up allows for the day. Only retries are claimed until then, and
 * recipients that were never tried wait.
 */
export type FullWarmUp = { until: number; reason: string };

/** The way of a queue: to a site, or nowhere until a time. A queue whose way leads elsewhere belongs to another schedule. */
export type Destination =
  | {
      kind: 'site';
      site: string;
      pool: PoolName;
      limits: SiteLimits;
      /** Time at which the way has to be looked up again. */
      routedUntil: number;
      /** All rests that rules have imposed on the site. */
      rests: readonly Rest[];
      /** Null while mail of all kinds is claimed. */
      fullWarmUp: FullWarmUp | null;
    }
  /** No source of the mail can be used at present. */
  | { kind: 'wait'; until: number; reason: string }
  | { kind: 'elsewhere' };

/** A message that is claimed for a site. `id` is unique among all claims of the schedule. */
export type ClaimedMail = { id: number; tenantId: string; band: Band };

/** The situation of a session that can take the next message. */
export type SessionSituation = {
  /** True when the message can be sent without connecting first. */
  isConnected: boolean;
  /** True when the peer has refused the last connection or has broken it off. */
  isLost: boolean;
  /** Time for which the session may wait for mail. */
  idleMs: number;
};

/** How a peer has refused a session: it could not be reached, or it said goodbye (RFC 5321 section 3.8). */
export type Refusal = { kind: 'unreachable' | 'goodbye'; text: string };

/** How a peer treats a session: it accepts a message, refuses to talk, or breaks off in the middle of a message. */
export type Experience =
  | { kind: 'accepted'; session: number }
  | { kind: 'refused'; session: number; refusal: Refusal }
  | { kind: 'broke-off'; session: number; text: string };

/** Number of messages in a turn of each tenant that has another number than 1. */
export type Weights = ReadonlyMap<string, number>;

export type ScheduleEvent =
  | Experience
  /** Mail may be due in the queues. `withRetries` has the keys of those in which a retry is known to be due. */
  | { kind: 'due'; queues: readonly QueueName[]; withRetries: ReadonlySet<string> }
  | { kind: 'routed'; queue: string; to: Destination }
  /** The way of every queue has to be looked up again. */
  | { kind: 'routes-changed' }
  /** `exhausted` has the queues of the decision in which no more mail was due. `recipients` counts those of all messages. */
  | {
      kind: 'claimed';
      site: string;
      mail: readonly ClaimedMail[];
      recipients: number;
      exhausted: readonly string[];
    }
  | { kind: 'claim-failed'; site: string }
  /** The session has sent what it was given as far as it can, or has just begun. */
  | { kind: 'ready'; session: number; situation: SessionSituation }
  | { kind: 'ended'; session: number }
  /** The outcome of a claimed message is stored. */
  | { kind: 'settled'; claim: number }
  /** A session gives recipients of a message back, as the claim `mail`, which comes next. */
  | { kind: 'put-back'; session: number; mail: ClaimedMail }
  /** The limits of the site, and all rests that rules have imposed on it, instead of those before. */
  | { kind: 'shaped'; site: string; limits: SiteLimits; rests: readonly Rest[] }
  /** The operator ends the rest of a site after failures. */
  | { kind: 'rest-lifted'; site: string }
  /** The operator wants to have forgotten what deliveries have taught about the site. */
  | { kind: 'unlearned'; site: string }
  /** The operator ends a session: at once when it waits for mail, and otherwise after what it sends. */
  | { kind: 'dismissed'; session: number }
  /** The weights of tenants, instead of those before. */
  | { kind: 'weights'; weights: Weights }
  /** From now on nothing is claimed. What is claimed is still sent. */
  | { kind: 'stopping' }
  /** Time has passed. */
  | { kind: 'time' };

export type Decision =
  /** Look up the way of the queue. */
  | { kind: 'route'; queue: string; isFirst: boolean }
  /**
   * Claim up to so many messages of each queue. Recipients of these messages in the queues of `with` are at the same site and
   * are claimed along. Nothing is claimed of the queues of `retriesOnly` but recipients that were tried before.
   */
  | {
      kind: 'claim';
      site: string;
      take: readonly { queue: string; limit: number }[];
      with: readonly string[];
      retriesOnly: readonly string[];
    }
  | { kind: 'open'; session: number; site: string; messagesPerConnection: number }
  /** `isGivenUp` is true when the message must not be sent, since its peer hangs and other mail needs the connection. */
  | { kind: 'send'; session: number; claim: number; isGivenUp: boolean }
  /** The message is the next one, so it can be signed now. */
  | { kind: 'prepare'; claim: number }
  | { kind: 'end'; session: number }
  /** Make mail due again that is claimed and cannot be sent now. */
  | { kind: 'release'; claims: readonly number[] }
  /** Nothing is left of the site that a session needs. */
  | { kind: 'forget'; site: string };
