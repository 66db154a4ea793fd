/** Where a delivery goes: the simulator, the hosts of a domain, or nowhere, because DNS has already given the verdict. */
import type { App } from '../app.ts';
import { isSimulatorDomain } from '../domains/sender.ts';
import { type MxPlan, planMx } from '../mail/mx.ts';
import type { Delivery } from './claim.ts';
import { NO_REPORT, type Outcome } from './outcome.ts';

export type Hosts = Extract<MxPlan, { kind: 'hosts' }>['hosts'];

export type Route =
  | { kind: 'simulator'; isSimulatorDomain: boolean }
  | { kind: 'hosts'; hosts: Hosts }
  | { kind: 'verdict'; outcome: Outcome };

/** RFC 3463 X.1.2: bad destination system address. */
const NO_SUCH_DOMAIN = '5.1.2';
/** RFC 7505 4.2: the domain takes no mail. */
const NULL_MX = '5.1.10';
/** decisions.md: an own NXDOMAIN bounces after two tries an hour apart. */
const NO_SUCH_DOMAIN_RETRY_MS = 3_600_000;

export async function chooseRoute(
  app: Pick<App, 'config' | 'dns' | 'random'>,
  delivery: Delivery,
): Promise<Route> {
  const simulated = isSimulatorDomain(app.config, delivery.domain);
  if (simulated || delivery.message.mode === 'test')
    return { kind: 'simulator', isSimulatorDomain: simulated };
  const plan = await planMx(app, delivery.domain);
  switch (plan.kind) {
    case 'hosts':
      return plan;
    case 'null-mx':
      return verdict(bounced(NULL_MX, `${delivery.domain} takes no mail (null MX)`));
    case 'no-domain':
      return verdict(noSuchDomain(delivery));
    case 'unresolved':
      return verdict({ kind: 'deferred', report: report(null, `DNS: ${plan.reason}`) });
  }
}

/** A domain that is missing once may be a registry's bad hour; missing again an hour later, it is gone. */
function noSuchDomain(delivery: Delivery): Outcome {
  const text = `${delivery.domain} does not exist (NXDOMAIN)`;
  const missingBefore = delivery.recipients.every(
    ({ enhancedCode, smtpCode }) => enhancedCode === NO_SUCH_DOMAIN && smtpCode === null,
  );
  if (missingBefore) return bounced(NO_SUCH_DOMAIN, text);
  return { kind: 'deferred', report: report(NO_SUCH_DOMAIN, text), retryAfterMs: NO_SUCH_DOMAIN_RETRY_MS };
}

function verdict(outcome: Outcome): Route {
  return { kind: 'verdict', outcome };
}

function bounced(enhancedCode: string, text: string): Outcome {
  return { kind: 'bounced', bounce: 'permanent', report: report(enhancedCode, text) };
}

function report(enhancedCode: string | null, text: string) {
  return { ...NO_REPORT, phase: 'dns', enhancedCode, text } as const;
}
