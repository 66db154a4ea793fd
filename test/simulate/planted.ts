/**
 * Faults that are planted on purpose, to prove that the checks find them. Each gives the daemon a world in which it does what a faulty
 * daemon would do: another limit, a dial that dials on its own, or rows that change behind its back. The program has no switch for them,
 * and its scheduler can be replaced without a change here.
 */
import { claimAgain, loseRetry } from './planted-writes.ts';
import type { Tamper } from './simulation.ts';

/** Time between the dials of a daemon that has forgotten that a site rests. */
const REDIAL_MS = 5_000;
/** Time for which a starved tenant is not served. */
const STARVED_MS = 10 * 60_000;

export const PLANTED: Readonly<Record<string, Tamper>> = {
  /** Mail that was just claimed is due again, so that it is claimed a second time while it is being sent. */
  'claim-twice': { afterCommit: claimAgain },
  /** A host that could not be reached is dialled again and again. */
  'forgotten-rest': { redialMs: REDIAL_MS },
  /** The single mail of a crowd is not served while the crowd is. */
  'starved-tenant': { mail: (mail) => (mail.name === 'single' ? { ...mail, waitsMs: STARVED_MS } : mail) },
  /** Mail that requires TLS is stored as if it did not. */
  'tls-downgrade': { mail: (mail) => ({ ...mail, requireTls: false }) },
  /** A delivery that is to be tried again is forgotten: it stays claimed, and no session has it. */
  'lost-put-back': { afterCommit: loseRetry },
  /** The daemon opens one connection more to a site than it may. */
  'limit-off-by-one': {
    limits: (limits) => ({ ...limits, connectionsPerSite: limits.connectionsPerSite + 1 }),
  },
};
