/**
 * Finds the route of a queue: to the simulator, to this installation itself, to the hosts of a domain, or to a dead end when
 * DNS has already decided the outcome.
 */
import type { App } from '../../app.ts';
import { receivesFor } from '../../domains/receiving/receives.ts';
import { bounceDomain } from '../../domains/records.ts';
import { isSandboxDomain, isSimulatorDomain } from '../../domains/sender.ts';
import { type MxPlan, planMx } from '../../mail/mx.ts';
import type { Delivery } from '../claim.ts';
import { NO_REPORT, type Outcome } from '../outcome/outcome.ts';
import type { Fact } from '../outcome/replies/meaning.ts';
import type { DeliveryQueueName } from './delivery-queue.ts';

export type Hosts = Extract<MxPlan, { kind: 'hosts' }>['hosts'];
type DeadEnd = Exclude<MxPlan, { kind: 'hosts' }>;

/** `site` is the key of the site: queues with the same key share its connections and their limits. */
export type Route =
  | { kind: 'simulator'; site: string }
  | { kind: 'local'; site: string }
  | { kind: 'hosts'; site: string; hosts: Hosts; ttlMs: number }
  | { kind: 'dead-end'; site: string; domain: string; plan: DeadEnd };

type RoutingApp = Pick<App, 'config' | 'db' | 'dns' | 'random' | 'clock' | 'targets'>;

/** One site for all mail that stays here. Its key contains a space, so no host has it. */
const LOCAL: Route = { kind: 'local', site: 'local delivery' };

/**
 * Looks up the route of a delivery queue. Test mail, the simulator's domain and the domains of this installation need no lookup.
 * Mail of other domains stays here when their MX is this machine and it receives mail for them.
 */
export async function chooseRoute(app: RoutingApp, { mode, domain }: DeliveryQueueName): Promise<Route> {
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

/** X.1.2 is a domain that does not exist (RFC 3463 section 3.2). */
const NO_SUCH_DOMAIN = '5.1.2';
/** X.1.10 is a domain that does not accept mail (RFC 7505 section 4.2). */
const NULL_MX = '5.1.10';
/** X.4.6 is a loop (RFC 3463 section 3.5). */
const LOOP = '5.4.6';
/** Time between the two lookups that must both report a missing domain (NXDOMAIN) before its mail bounces. */
const NO_SUCH_DOMAIN_RETRY_MS = 3_600_000;

/** Returns the outcome of a delivery that DNS alone decides. */
export function judgeDeadEnd(domain: string, plan: DeadEnd, delivery: Delivery): Outcome {
  switch (plan.kind) {
    case 'null-mx':
      return bounced('null-mx', NULL_MX, `${domain} takes no mail (null MX)`);
    case 'loop':
      return bounced('loop', LOOP, `The MX of ${domain} is this machine, which does not take its mail`);
    case 'no-domain':
      return noSuchDomain(domain, delivery);
    case 'unresolved':
      return { kind: 'deferred', report: report('dns', null, `DNS: ${plan.reason}`) };
  }
}

/**
 * Returns a deferral for the first NXDOMAIN, which may be a short fault of a registry. A second NXDOMAIN an hour
 * later is a permanent bounce.
 */
function noSuchDomain(domain: string, delivery: Delivery): Outcome {
  const text = `${domain} does not exist (NXDOMAIN)`;
  const missingBefore = delivery.recipients.every(
    ({ enhancedCode, smtpCode }) => enhancedCode === NO_SUCH_DOMAIN && smtpCode === null,
  );
  if (missingBefore) return bounced('no-domain', NO_SUCH_DOMAIN, text);
  const missing = report('no-domain', NO_SUCH_DOMAIN, text);
  return { kind: 'deferred', report: missing, retryAfterMs: NO_SUCH_DOMAIN_RETRY_MS };
}

function bounced(fact: Fact, enhancedCode: string, text: string): Outcome {
  return { kind: 'bounced', report: report(fact, enhancedCode, text) };
}

function report(fact: Fact, enhancedCode: string | null, text: string) {
  return { ...NO_REPORT, phase: 'dns', enhancedCode, text, fact } as const;
}
