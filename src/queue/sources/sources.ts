/**
 * The sources of this installation as the queue uses them: it asks for the source of a queue, and opens connections from it. What
 * is learned about sources on the way is stored, so that every thread and the operator see it.
 */

import { isIPv6 } from 'node:net';
import { bounceDomain } from '../../domains/records.ts';
import { providerOfSite } from '../../providers/provider-of-site.ts';
import { SourceError } from '../../system/dial/source-failure.ts';
import type { Dial } from '../../system/dial.ts';
import { createLru } from '../../system/lru.ts';
import type { PartApp } from '../../thread-app.ts';
import { type DeliveryQueueName, queueKeyOf } from '../queue-key.ts';
import { type Choice, chooseSource, poolFor, type SourceState } from './choose.ts';
import { configuredPools } from './configured.ts';
import { dialSource } from './dial-source.ts';
import { SourceFailures } from './failures.ts';
import { ipv4First, withoutIPv6 } from './families.ts';
import { type Proof, proveAddress } from './proof.ts';
import { fingerprintOf, type Hosts, type Pool, type Source } from './source.ts';
import { listOperatorSuspensions, listSuspensions, type Suspension, suspendAddresses } from './store.ts';
import { OTHER_PROVIDER } from './warm-up/curves.ts';
import { fullUntil, readWarmUps } from './warm-up/warm-up.ts';

/** Time for which an address stays suspended until it is probed, in milliseconds. Our own limit. */
export const SUSPENDED_MS = 60_000;
/** Time after which it is proven again that an IPv6 address may send, in milliseconds. */
const PROOF_MS = 600_000;
/** Time for which a proof that DNS did not answer is not asked for again, because each lookup of a route would wait for it. */
const UNANSWERED_PROOF_MS = 30_000;
const MAX_PROOFS = 512;

type SourcesApp = Pick<PartApp, 'clock' | 'config' | 'db' | 'dial' | 'dns' | 'log' | 'wakeups'>;

export class Sources {
  readonly #app: SourcesApp;
  readonly #pools: readonly Pool[];
  readonly #failures = new SourceFailures();
  readonly #proofs = createLru<string, { proof: Promise<Proof>; until: number }>(MAX_PROOFS);

  constructor(app: SourcesApp) {
    this.#app = app;
    this.#pools = configuredPools(app.config);
  }

  /**
   * Chooses the source of a queue for mail to the hosts. The system chooses where no pool is for the mail. `isResting` says which
   * sources rest at these hosts.
   */
  async choose(
    queue: DeliveryQueueName,
    planned: Hosts,
    isResting: (source: Source) => boolean = () => false,
  ): Promise<Choice> {
    const hosts = ipv4First(withoutIPv6(this.#app.config.outbound.ipv4Only, queue.domain, planned));
    if (hosts.length === 0)
      return {
        kind: 'unreachable',
        reason: `${queue.domain} gets mail over IPv4 alone, and its hosts have no such address`,
      };
    const pool = poolFor(this.#pools, queue);
    if (!pool) return { kind: 'hosts', hosts, source: null, warmUp: null, fullWarmUp: null };
    const suspensions = await listSuspensions(this.#app.db.read);
    const byHand = await listOperatorSuspensions(this.#app.db.read);
    const known = await readWarmUps(this.#app);
    const provider = providerOf(hosts.map(({ name }) => name));
    const states = new Map<Source, SourceState>();
    for (const source of pool.sources) {
      const started = known.warmUps.find((one) => one.source === source.name);
      const warmUp = started ? { warmUp: started, provider } : null;
      const warmUpUntil = warmUp ? fullUntil(known, warmUp, queue.kind) : undefined;
      const held = byHand.find((one) => one.source === source.name);
      const state = held
        ? { usable: [], suspended: byHandText(held) }
        : await this.#stateOf(source, suspensions);
      states.set(source, { ...state, warmUp, warmUpUntil, isResting: isResting(source) });
    }
    return chooseSource(pool, { queue: nameOf(queue), hosts }, (source) => states.get(source) ?? UNKNOWN);
  }

  async #stateOf(
    source: Source,
    suspensions: readonly Suspension[],
  ): Promise<Pick<SourceState, 'usable' | 'suspended'>> {
    const current = suspensionsOf(source, suspensions);
    const suspended = new Set(current.map(({ address }) => address));
    const usable: string[] = [];
    for (const address of source.addresses)
      if (!suspended.has(address) && (await this.#mayUse(source, address))) usable.push(address);
    return { usable, suspended: current[0]?.reason };
  }

  /** An IPv6 address is used once it is proven, unless the operator vouches for it. */
  async #mayUse(source: Source, address: string): Promise<boolean> {
    if (!isIPv6(address) || source.ipv6 === 'always') return true;
    const { clock, dns, config } = this.#app;
    const key = `${source.ehlo} ${address}`;
    const known = this.#proofs.get(key);
    if (known && clock.elapsed() < known.until) return (await known.proof).kind === 'proven';
    const returnPath = bounceDomain(config);
    const asked = {
      proof: proveAddress(dns, { address, ehlo: source.ehlo, returnPath }),
      until: Number.POSITIVE_INFINITY,
    };
    this.#proofs.set(key, asked);
    const { kind } = await asked.proof.catch((error) => {
      this.#proofs.delete(key);
      throw error;
    });
    asked.until = clock.elapsed() + (kind === 'unknown' ? UNANSWERED_PROOF_MS : PROOF_MS);
    return kind === 'proven';
  }

  /** Returns the dial that connects from the source. A failure of the source suspends it, and its queues are routed again. */
  dialFrom(source: Source): Dial {
    return async (target) => {
      try {
        const from = await dialSource(source, target.address);
        const socket = await this.#app.dial({ ...target, source: from });
        this.#failures.connected(source.name);
        return socket;
      } catch (error) {
        if (error instanceof SourceError) await this.#noteFailure(source, target.address, error);
        throw error;
      }
    };
  }

  async #noteFailure(source: Source, host: string, error: SourceError): Promise<void> {
    if (!this.#failures.failed(source.name, host, error)) return;
    const { db, clock, log, wakeups } = this.#app;
    const now = clock.now();
    const { name } = source;
    // The addresses behind a proxy fail together.
    const failed =
      source.way.kind === 'address'
        ? source.addresses.filter((one) => isIPv6(one) === isIPv6(host))
        : source.addresses;
    const suspension = {
      source: name,
      fingerprint: fingerprintOf(source),
      reason: error.message,
      since: now,
      until: now + SUSPENDED_MS,
    };
    const suspensions = failed.map((address) => ({ ...suspension, address }));
    try {
      const isNew = await db.commit(suspendAddresses, { suspensions });
      // The other sessions that are opened from the source fail too.
      if (!isNew) return;
      log.warn({ source: name, addresses: failed, reason: error.message }, 'a source of mail is suspended');
    } catch (failure) {
      log.error({ err: failure, source: name }, 'a source of mail could not be suspended');
      return;
    }
    wakeups.notify('outbound-routes');
  }
}

/** Returns the name of the provider of hosts, by which their mail is counted. */
function providerOf(hosts: readonly string[]): string {
  return providerOfSite({ hosts, relay: null })?.name ?? OTHER_PROVIDER;
}

/** Names a queue for the order of its sources. Mail that the operator has rerouted keeps its order. */
function nameOf({ mode, kind, tenantId, domain }: DeliveryQueueName): string {
  return queueKeyOf({ mode, kind, tenantId }, domain);
}

/** Returns the reason for which a source is not used that the operator has suspended. */
function byHandText({ reason }: { reason: string | null }): string {
  const suspended = 'the operator of this server has suspended it';
  return reason === null ? suspended : `${suspended} (${reason})`;
}

const UNKNOWN: SourceState = {
  usable: [],
  suspended: undefined,
  warmUp: null,
  warmUpUntil: undefined,
  isResting: false,
};

/** Returns the suspensions of a source with its present settings. */
export function suspensionsOf(source: Source, suspensions: readonly Suspension[]): Suspension[] {
  const fingerprint = fingerprintOf(source);
  return suspensions.filter((one) => one.source === source.name && one.fingerprint === fingerprint);
}
