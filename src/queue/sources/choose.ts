/**
 * Chooses the source of a queue. The choice is stable: a queue has its own order of the sources of a pool, and takes the first one
 * that can be used. A retry of mail that was greylisted so comes from the same address, and when a source fails, only its
 * queues move (rendezvous hashing).
 */
import { createHash } from 'node:crypto';
import type { DeliveryQueueName } from '../queue-key.ts';
import { type Hosts, type Pool, reachableHosts, type Source } from './source.ts';
import type { WarmUpPlace } from './warm-up/warm-up.ts';

/** The knowledge of a source at present. */
export type SourceState = {
  /** Addresses that mail may leave from: those that are neither suspended nor unproven. */
  usable: readonly string[];
  /** Reason why addresses are not usable for the moment; undefined when none is suspended. */
  suspended: string | undefined;
  /** The warm-up of the source, with the provider of these hosts; null when it is warm. */
  warmUp: WarmUpPlace | null;
  /** Time in Unix milliseconds from which the source takes first attempts at these hosts again; undefined while it takes them. */
  warmUpUntil: number | undefined;
  /** True while a back-off rule lets the source rest at these hosts. */
  isResting: boolean;
};

/** All sources of a pool have sent their first attempts of the day. The day ends at `until`, in Unix milliseconds. */
type FullWarmUp = { until: number; reason: string };

export type Choice =
  /**
   * `hosts` have the addresses that the source reaches. Without a source, the system chooses the address to connect from. With
   * `fullWarmUp`, the source takes retries alone.
   */
  | {
      kind: 'hosts';
      hosts: Hosts;
      source: Source | null;
      warmUp: WarmUpPlace | null;
      fullWarmUp: FullWarmUp | null;
    }
  /** Mail waits, because the pool has no source for it at present. */
  | { kind: 'wait'; reason: string }
  /** No source of the pool has an address of the family of the hosts. */
  | { kind: 'unreachable'; reason: string };

/** Returns the most specific pool for the mail; undefined when there is none. A domain counts more than a tenant, a tenant more than a kind. */
export function poolFor(
  pools: readonly Pool[],
  mail: Pick<DeliveryQueueName, 'tenantId' | 'domain' | 'kind'>,
) {
  const rank = ({ domain, tenantId, kind }: Pool) =>
    (domain === null ? 0 : 4) + (tenantId === null ? 0 : 2) + (kind === null ? 0 : 1);
  return pools
    .filter(
      ({ domain, tenantId, kind }) =>
        (domain ?? mail.domain) === mail.domain &&
        (tenantId ?? mail.tenantId) === mail.tenantId &&
        (kind ?? mail.kind) === mail.kind,
    )
    .toSorted((one, other) => rank(other) - rank(one))[0];
}

/** Chooses a source of the pool for mail of the queue to the hosts. */
export function chooseSource(
  pool: Pool,
  { queue, hosts }: { queue: string; hosts: Hosts },
  stateOf: (source: Source) => SourceState,
): Choice {
  const reaches = (addresses: readonly string[]) => reachableHosts(hosts, addresses).length > 0;
  const candidates = inOrderOf(queue, pool.sources)
    .filter(({ addresses }) => reaches(addresses))
    .map((source) => ({ source, state: stateOf(source) }));
  const ready = candidates.filter(({ state }) => reaches(state.usable));
  const willing = ready.filter(({ state }) => state.warmUpUntil === undefined);
  const takers = willing.length > 0 ? willing : ready;
  // When all of them rest, mail waits at the site of its own source.
  const chosen = takers.find(({ state }) => !state.isResting) ?? takers[0];
  if (chosen) {
    const { source, state } = chosen;
    const fullWarmUp = willing.length > 0 ? null : findFullWarmUp(pool, ready);
    const { warmUp } = state;
    return { kind: 'hosts', hosts: reachableHosts(hosts, state.usable), source, warmUp, fullWarmUp };
  }
  const suspended = candidates.filter(({ state }) => state.suspended !== undefined);
  if (suspended.length > 0) {
    const reasons = suspended.map(({ source, state }) => `${source.name}: ${state.suspended}`);
    const reason = `no source of the pool "${pool.name}" can be used: ${reasons.join('; ')}`;
    return { kind: 'wait', reason };
  }
  return {
    kind: 'unreachable',
    reason: `no source of the pool "${pool.name}" reaches the addresses of the hosts`,
  };
}

function findFullWarmUp({ name }: Pool, sources: readonly { state: SourceState }[]): FullWarmUp {
  const until = Math.min(...sources.map(({ state }) => state.warmUpUntil ?? 0));
  const reason = `all sources of the pool "${name}" have sent as many first attempts as their warm-up allows for today`;
  return { until, reason };
}

/** Returns the sources in the order of the queue, which depends on nothing but their names. */
function inOrderOf(queue: string, sources: readonly Source[]): Source[] {
  if (sources.length === 1) return [...sources];
  const score = new Map(sources.map(({ name }) => [name, scoreOf(name, queue)]));
  return sources.toSorted((one, other) =>
    (score.get(one.name) ?? '') < (score.get(other.name) ?? '') ? 1 : -1,
  );
}

function scoreOf(source: string, queue: string): string {
  return createHash('sha256').update(`${source}\n${queue}`).digest('hex');
}
