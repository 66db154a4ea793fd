/**
 * Faults that are planted on purpose, to prove that the checks find them. Each gives the daemon a world in which it does what a faulty
 * daemon would do: another limit, a dial that dials on its own, or rows that change behind its back. The program has no switch for them,
 * and its scheduler can be replaced without a change here.
 */

import type { Config } from '../../src/config/config.ts';
import { claimAgain, delayRetries, endWarmUps, forgetSuspensions, loseRetry } from './planted-writes.ts';
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
    settings: ({ delivery, ...settings }) => ({
      ...settings,
      delivery: { ...delivery, connectionsPerSite: delivery.connectionsPerSite + 1 },
    }),
  },
  /** Sites with a rate get three times as much mail. */
  'rate-times-three': {
    settings: (settings) => withLimits(settings, 'recipientsPerMinute', (rate) => 3 * rate),
  },
  /** Sites with a rate of connections get three times as many. */
  'connection-rate-times-three': {
    settings: (settings) => withLimits(settings, 'connectionsPerMinute', (rate) => 3 * rate),
  },
  /** The daemon opens one connection more to all sites of a provider than it may. */
  'group-off-by-one': {
    settings: (settings) => withLimits(settings, 'providerConnections', (connections) => connections + 1),
  },
  /** The relay of the operator is forgotten. */
  'forgotten-relay': {
    settings: ({ outbound, ...settings }) => ({ ...settings, outbound: { ...outbound, routes: [] } }),
  },
  /** The daemon does not see the TLS policies of domains. */
  'hidden-policy': { hidesPolicies: true },
  /** A tenant rests much shorter than a rule says. */
  'short-tenant-rest': { spamRestMs: 30_000 },
  /** That a source was suspended is forgotten. */
  'forgotten-suspension': { afterCommit: forgetSuspensions },
  /** Two threads serve all sites, each as if it were the only one. */
  'claimed-by-two-threads': { isUndealt: true },
  /** A source sends as if it were not warmed up. */
  'forgotten-warm-up': { afterCommit: endWarmUps },
  /** Retries wait as first attempts do while a warm-up is full. */
  'delayed-retries': { afterCommit: delayRetries },
};

type LimitName = 'recipientsPerMinute' | 'connectionsPerMinute' | 'providerConnections';

/** Returns settings with another value of a limit, wherever it is set. */
function withLimits(settings: Config, name: LimitName, change: (value: number) => number): Config {
  const limits = settings.delivery.limits.map((limit) => {
    const value = limit[name];
    return value === undefined ? limit : { ...limit, [name]: change(value) };
  });
  return { ...settings, delivery: { ...settings.delivery, limits } };
}
