/**
 * Sites with a rate get no more than that, and no more messages on a connection than they take. Recipients are counted when they are claimed: a claim is made only when the time of all
 * recipients that were claimed before has passed. Connections are counted when they are dialled, some time after they were planned.
 */
import type { ConnectionFacts } from '../observation.ts';
import type { MakeCheck } from './check.ts';
import { waysOf } from './ways.ts';

const MINUTE_MS = 60_000;
/** Time in which connections are counted, and the number of them that may come together because some were planned before. */
const WINDOW_MS = 5 * MINUTE_MS;
const CONNECTIONS_TOGETHER = 3;

/** `claimedUntil` is the time of all recipients that were claimed before the claim of `claimedAt`. */
type Site = { intervalMs: number | null; claimedAt: number; freeAt: number; claimedUntil: number };

export const checkRates: MakeCheck = (plan, fail) => {
  const { rates, sources } = plan.policies;
  // A site has its rate once for each source.
  if (rates.length === 0 || sources.length > 0) return {};
  const ways = waysOf(plan, new Set(rates.map(({ site }) => site)));
  const simple = new Set(
    plan.sites.filter(({ hosts }) => hosts.length === 1 && hosts[0]?.tls === 'none').map(({ name }) => name),
  );
  let sites = new Map<string, Site>();
  let dialled = new Map<string, number[]>();
  const messages = new Map<ConnectionFacts['id'], number>();

  function checkClaim(name: string, at: number): void {
    const recipientsPerMinute = rates.find(({ site }) => site === name)?.recipientsPerMinute ?? null;
    if (recipientsPerMinute === null) return;
    const intervalMs = MINUTE_MS / recipientsPerMinute;
    const site = sites.get(name) ?? { intervalMs, claimedAt: -1, freeAt: 0, claimedUntil: 0 };
    sites.set(name, site);
    // Everything that is claimed at one moment is one claim.
    if (site.claimedAt !== at) {
      site.freeAt = site.claimedUntil;
      site.claimedUntil = Math.max(site.claimedUntil, at);
      site.claimedAt = at;
    }
    if (at < Math.floor(site.freeAt) - 1)
      fail(`${name} gets more than ${recipientsPerMinute} recipients a minute`);
    site.claimedUntil += intervalMs;
  }

  function checkMessage({ id, host }: ConnectionFacts): void {
    const most =
      rates.find(({ site }) => site === host.site)?.messagesPerConnection ?? Number.POSITIVE_INFINITY;
    const count = (messages.get(id) ?? 0) + 1;
    messages.set(id, count);
    if (count > most) fail(`${host.site} gets more than ${most} messages on a connection`);
  }

  function checkDial(name: string, at: number): void {
    const perMinute = rates.find(({ site }) => site === name)?.connectionsPerMinute ?? null;
    if (perMinute === null || !simple.has(name)) return;
    const times = [...(dialled.get(name) ?? []), at].filter((time) => time > at - WINDOW_MS);
    dialled.set(name, times);
    const most = (perMinute * WINDOW_MS) / MINUTE_MS + CONNECTIONS_TOGETHER;
    if (times.length > most) fail(`${name} gets more than ${perMinute} connections a minute`);
  }

  return {
    observe(observation, at) {
      if (observation.kind === 'started') {
        sites = new Map();
        dialled = new Map();
      }
      if (observation.kind === 'changed' && observation.to === 'in_flight') {
        const site = ways.get(observation.address)?.site;
        if (site !== undefined) checkClaim(site, at);
      }
      if (observation.kind === 'mail') checkMessage(observation.connection);
      if (observation.kind === 'dialled') checkDial(observation.connection.host.site, at);
    },
  };
};
