/** Where a queue leads: the simulator, the hosts of a domain, or nowhere, because DNS has already given the verdict. */
import type { App } from '../app.ts';
import { isSimulatorDomain } from '../domains/sender.ts';
import { type MxPlan, planMx } from '../mail/mx.ts';
import type { Delivery } from './claim.ts';
import type { DeliveryQueueName } from './delivery-queue.ts';
import { NO_REPORT, type Outcome } from './outcome.ts';

export type Hosts = Extract<MxPlan, { kind: 'hosts' }>['hosts'];
export type DeadEnd = Exclude<MxPlan, { kind: 'hosts' }>;

/** `site` identifies the site: queues with the same one share its connections and their limits. */
export type Route =
  | { kind: 'simulator'; site: string }
  | { kind: 'hosts'; site: string; hosts: Hosts; ttlMs: number }
  | { kind: 'dead-end'; site: string; domain: string; plan: DeadEnd };

export async function chooseRoute(
  app: Pick<App, 'config' | 'dns' | 'random' | 'clock' | 'targets'>,
  { mode, domain }: DeliveryQueueName,
): Promise<Route> {
  if (mode === 'test' || isSimulatorDomain(app.config, domain))
    return { kind: 'simulator', site: 'simulator' };
  const plan = await planMx(app, domain);
  // A domain's host names hold no space, so none is taken for another site.
  if (plan.kind !== 'hosts') return { kind: 'dead-end', site: `dead end ${domain}`, domain, plan };
  return plan;
}

/** RFC 3463 X.1.2: bad destination system address. */
const NO_SUCH_DOMAIN = '5.1.2';
/** RFC 7505 4.2: the domain takes no mail. */
const NULL_MX = '5.1.10';
/** RFC 3463 X.4.6: a routing loop. */
const LOOP = '5.4.6';
/** decisions.md: an own NXDOMAIN bounces after two tries an hour apart. */
const NO_SUCH_DOMAIN_RETRY_MS = 3_600_000;

/** What DNS alone says of a delivery. */
export function judgeDeadEnd(domain: string, plan: DeadEnd, delivery: Delivery): Outcome {
  switch (plan.kind) {
    case 'null-mx':
      return bounced(NULL_MX, `${domain} takes no mail (null MX)`, 'permanent');
    case 'loop':
      return bounced(
        LOOP,
        `The MX of ${domain} is this machine, which does not take its mail`,
        'undetermined',
      );
    case 'no-domain':
      return noSuchDomain(domain, delivery);
    case 'unresolved':
      return { kind: 'deferred', report: report(null, `DNS: ${plan.reason}`) };
  }
}

/** A domain that is missing once may be a registry's bad hour; missing again an hour later, it is gone. */
function noSuchDomain(domain: string, delivery: Delivery): Outcome {
  const text = `${domain} does not exist (NXDOMAIN)`;
  const missingBefore = delivery.recipients.every(
    ({ enhancedCode, smtpCode }) => enhancedCode === NO_SUCH_DOMAIN && smtpCode === null,
  );
  if (missingBefore) return bounced(NO_SUCH_DOMAIN, text, 'permanent');
  return { kind: 'deferred', report: report(NO_SUCH_DOMAIN, text), retryAfterMs: NO_SUCH_DOMAIN_RETRY_MS };
}

function bounced(enhancedCode: string, text: string, bounce: 'permanent' | 'undetermined'): Outcome {
  return { kind: 'bounced', bounce, report: report(enhancedCode, text) };
}

function report(enhancedCode: string | null, text: string) {
  return { ...NO_REPORT, phase: 'dns', enhancedCode, text } as const;
}
