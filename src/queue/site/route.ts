/**
 * Finds the route of a queue: to the simulator, to this installation itself, to a relay of the operator, to the hosts of a domain,
 * or to a dead end when DNS has already decided the outcome.
 */
import { receivesFor } from '../../domains/receiving/requirements.ts';
import { bounceDomain } from '../../domains/records.ts';
import { isSandboxDomain, isSimulatorDomain } from '../../domains/sender.ts';
import { type MxPlan, planMx } from '../../mail/mx.ts';
import { findOutboundRoute } from '../../outbound-routes/find.ts';
import { planRelay } from '../../outbound-routes/relay.ts';
import { type Relay, siteOfRelay } from '../../outbound-routes/route.ts';
import type { PartApp } from '../../thread-app.ts';
import type { DeliveryTls } from '../../tls-policies/delivery-tls.ts';
import type { DeliveryQueueName } from '../queue-key.ts';
import { hostNamesOf } from '../site-name.ts';
import { type Hosts, type Source, siteFrom } from '../sources/source.ts';
import type { Sources } from '../sources/sources.ts';
import type { WarmUpPlace } from '../sources/warm-up/warm-up.ts';

export type DeadEnd = Exclude<MxPlan, { kind: 'hosts' }>;

/**
 * `site` is the key of the site: queues with the same key share its connections and their limits. `relay` is null when the hosts
 * are those of the domains, and says otherwise how sessions with them are opened. `source` is null when connections leave from the
 * address that the system chooses.
 */
export type Route =
  | { kind: 'simulator'; site: string }
  | { kind: 'local'; site: string }
  | {
      kind: 'hosts';
      site: string;
      hosts: Hosts;
      ttlMs: number;
      relay: Relay | null;
      source: Source | null;
      /** The warm-up of the source at these hosts; null when it is warm. */
      warmUp: WarmUpPlace | null;
      /** The source takes retries alone for so long; null while it takes all mail. */
      fullWarmUp: { forMs: number; reason: string } | null;
    }
  | { kind: 'dead-end'; site: string; domain: string; plan: DeadEnd };

/** Mail that has no source at present stays where it is. `forMs` is the time after which its route is looked up again. */
export type Waiting = { kind: 'wait'; forMs: number; reason: string };

/** The values that routes are found with. */
type RoutingApp = PartApp & {
  sources: Pick<Sources, 'choose'>;
  tls: Pick<DeliveryTls, 'policiesOf'>;
  /** Says which sources rest at a site. Without it, none does. */
  shaping?: { isSourceResting(site: SiteFromSource): boolean };
};

/** A site with the source that its mail leaves from. */
type SiteFromSource = { key: string; hosts: readonly string[]; relay: null; source: string };

/** Time after which mail without a source asks for one again. What ends a suspension has all queues routed again at once. */
const SOURCE_WAIT_MS = 60_000;

/** One site for all mail that stays here. Its key contains a space, so no host has it. */
const LOCAL: Route = { kind: 'local', site: 'local delivery' };

/**
 * Looks up the route of a delivery queue. Test mail, the simulator's domain and the domains of this installation need no lookup.
 * Mail of other domains stays here when their MX is this machine and it receives mail for them. What is left takes the relay of
 * the operator's route, or goes to the MX hosts. Mail that the operator has rerouted goes to the MX hosts of its target.
 */
export async function chooseRoute(app: RoutingApp, queue: DeliveryQueueName): Promise<Route | Waiting> {
  return fromSource(app, queue, await chooseWay(app, queue));
}

/** Looks up the route of a delivery queue up to the choice of its source, which is null. */
export async function chooseWay(app: RoutingApp, queue: DeliveryQueueName): Promise<Route> {
  const { mode, domain: own, target, tenantId } = queue;
  const { config } = app;
  const domain = target ?? own;
  if (mode === 'test' || isSimulatorDomain(config, domain)) return { kind: 'simulator', site: 'simulator' };
  if (isOwnDomain(config, domain)) return LOCAL;
  const chosen = target === undefined ? await findOutboundRoute(app, { tenantId, domain }) : undefined;
  const relay = chosen?.relay ?? null;
  // A machine with a relay may be unable to look up anything else, so other domains are not looked up then.
  if (relay && !(await receivesFor(app, domain))) return routeByRelay(app, relay, domain);
  const policies = app.tls.policiesOf(domain, chosen?.tlsPolicy ?? undefined);
  const plan = await planMx(app, domain, policies.qualify);
  if (plan.kind === 'loop' && (await receivesFor(app, domain))) return LOCAL;
  if (relay) return routeByRelay(app, relay, domain);
  if (plan.kind !== 'hosts') return deadEnd(domain, plan);
  const doubt = await policies.findDoubt(plan.mxProof);
  if (doubt !== undefined)
    return deadEnd(domain, { kind: 'unresolved', reason: `DNSSEC cannot be tested (${doubt})` });
  // The TLS that a domain requires is part of the key, so that no session is shared by domains that require different things.
  const site = `${plan.site}${await policies.posture(plan.mxProof)}`;
  const ttlMs = Math.min(plan.ttlMs, await policies.ttlMs());
  return { ...plan, site, ttlMs, relay: null, source: null, warmUp: null, fullWarmUp: null };
}

/** The key contains spaces and the keys of other sites do not, so no two sites share a key. */
function deadEnd(domain: string, plan: DeadEnd): Route {
  return { kind: 'dead-end', site: `dead end ${domain}`, domain, plan };
}

/** Returns the route with the source of the queue. Only mail to the hosts of a domain has one. */
export async function fromSource(
  app: RoutingApp,
  queue: DeliveryQueueName,
  plan: Route,
): Promise<Route | Waiting> {
  if (plan.kind !== 'hosts' || plan.relay) return plan;
  const names = hostNamesOf(plan.site);
  const isResting = (source: Source) => {
    const site = { key: siteFrom(plan.site, source), hosts: names, relay: null, source: source.name };
    return app.shaping?.isSourceResting(site) ?? false;
  };
  const choice = await app.sources.choose(queue, plan.hosts, isResting);
  switch (choice.kind) {
    case 'hosts': {
      const { hosts, source, warmUp } = choice;
      const site = source === null ? plan.site : siteFrom(plan.site, source);
      const fullWarmUp = choice.fullWarmUp && {
        forMs: Math.max(choice.fullWarmUp.until - app.clock.now(), 0),
        reason: choice.fullWarmUp.reason,
      };
      return { ...plan, hosts, site, relay: null, source, warmUp, fullWarmUp };
    }
    case 'wait':
      return { kind: 'wait', reason: choice.reason, forMs: SOURCE_WAIT_MS };
    case 'unreachable':
      return deadEnd(queue.domain, { kind: 'unresolved', reason: choice.reason });
  }
}

/** Returns the route to the hosts of a relay. Its mail waits while none of them is found. */
async function routeByRelay(app: PartApp, relay: Relay, domain: string): Promise<Route> {
  const plan = await planRelay(app, relay);
  const site = siteOfRelay(relay);
  if (plan.kind === 'hosts') return { ...plan, site, relay, source: null, warmUp: null, fullWarmUp: null };
  const reason = 'reason' in plan ? plan.reason : plan.kind;
  const unresolved = {
    kind: 'unresolved',
    reason: `relay of the route "${relay.route}": ${reason}`,
  } as const;
  return { kind: 'dead-end', site: `dead end ${site}`, domain, plan: unresolved };
}

/** Returns true for the domains of this installation, which receive its mail without an MX record: each has at least a postmaster. */
function isOwnDomain(config: Pick<PartApp['config'], 'hostname'>, domain: string): boolean {
  const own = [config.hostname.toLowerCase(), bounceDomain(config)];
  return isSandboxDomain(config, domain) || own.includes(domain);
}
