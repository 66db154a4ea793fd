/**
 * Simulates delivery for test keys, and for the recipients `<behaviour>@simulator.<hostname>` of every key. This module
 * opens no socket.
 */
import type { Config } from '../../config.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { isSimulatorDomain } from '../../domains/sender.ts';
import type { Delivery } from '../claim.ts';
import { NO_REPORT, type Outcome, type Report, type Verdict } from '../outcome/outcome.ts';

/** Retry delay of a simulated deferral. It is short, because somebody usually waits to see the retry. */
const SIMULATED_RETRY_MS = 2_000;

/** Returns the verdict of the simulator for each recipient of a delivery. */
export function simulateDelivery(
  config: Pick<Config, 'hostname'>,
  { recipients }: Delivery,
): Map<RecipientRow['id'], Verdict> {
  return new Map(
    recipients.map(({ id, address, domain, attempts }) => [
      id,
      isSimulatorDomain(config, domain) ? simulate(address, attempts) : { outcome: DELIVERED },
    ]),
  );
}

/**
 * Returns the simulated verdict for an address. The local part up to a `+` names the behaviour; an unknown name is
 * delivered.
 */
export function simulate(address: string, attempts: number): Verdict {
  const behaviour = address.slice(0, address.lastIndexOf('@')).replace(/\+.*$/, '').toLowerCase();
  switch (behaviour) {
    case 'bounced':
      return { outcome: BOUNCED };
    case 'delayed':
      return { outcome: attempts > 1 ? DELIVERED : DELAYED };
    case 'complained':
    case 'opened':
    case 'clicked':
      return { outcome: DELIVERED, feedback: behaviour };
    default:
      return { outcome: DELIVERED };
  }
}

const DELIVERED: Outcome = { kind: 'delivered', report: report(250, '2.0.0', 'Simulated: accepted') };
const BOUNCED: Outcome = {
  kind: 'bounced',
  report: report(550, '5.1.1', 'Simulated: no such mailbox'),
};
const DELAYED: Outcome = {
  kind: 'deferred',
  report: report(451, '4.7.1', 'Simulated: try again later'),
  retryAfterMs: SIMULATED_RETRY_MS,
};

function report(smtpCode: number, enhancedCode: string, text: string): Report {
  return { ...NO_REPORT, phase: 'simulated', smtpCode, enhancedCode, text };
}
