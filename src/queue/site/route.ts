/**
 * Finds the route of a queue: to the simulator, to this installation itself, to the hosts of a domain, or to a dead end when
 * DNS has already decided the outcome.
 */
import type { App } from '../../app.ts';
import { receivesFor } from '../../domains/receiving/requirements.ts';
import { bounceDomain } from '../../domains/records.ts';
import { isSandboxDomain, isSimulatorDomain } from '../../domains/sender.ts';
import { type MxPlan, planMx } from '../../mail/mx.ts';
import type { DeliveryQueueName } from '../queue-key.ts';

export type Hosts = Extract<MxPlan, { kind: 'hosts' }>['hosts'];
export type DeadEnd = Exclude<MxPlan, { kind: 'hosts' }>;

/** `site` is the key of the site: queues with the same key share its connections and their limits. */
export type Route =
  | { kind: 'simulator'; site: string }
  | { kind: 'local'; site: string }
  | { kind: 'hosts'; site: string; hosts: Hosts; ttlMs: number }
  | { kind: 'dead-end'; site: string; domain: string; plan: DeadEnd };

/** One site for all mail that stays here. Its key contains a space, so no host has it. */
const LOCAL: Route = { kind: 'local', site: 'local delivery' };

/**
 * Looks up the route of a delivery queue. Test mail, the simulator's domain and the domains of this installation need no lookup.
 * Mail of other domains stays here when their MX is this machine and it receives mail for them.
 */
export async function chooseRoute(app: App, { mode, domain }: DeliveryQueueName): Promise<Route> {
  const { config } = app;
  if (mode === 'test' || isSimulatorDomain(config, domain)) return { kind: 'simulator', site: 'simulator' };
  if (isOwnDomain(config, domain)) return LOCAL;
  const plan = await planMx(app, domain);
  if (plan.kind === 'loop' && (await receivesFor(app, domain))) return LOCAL;
  // The key contains spaces and the keys of other sites do not, so no two sites share a key.
  if (plan.kind !== 'hosts') return { kind: 'dead-end', site: `dead end ${domain}`, domain, plan };
  return plan;
}

/** Returns true for the domains of this installation, which receive its mail without an MX record: each has at least a postmaster. */
function isOwnDomain(config: Pick<App['config'], 'hostname'>, domain: string): boolean {
  const own = [config.hostname.toLowerCase(), bounceDomain(config)];
  return isSandboxDomain(config, domain) || own.includes(domain);
}
