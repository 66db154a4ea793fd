/** Decides the mail of a site that is sent nowhere: that of the simulator, or of a domain that DNS has ruled out. */
import type { Config } from '../../config/config.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { isSimulatorDomain } from '../../domains/sender.ts';
import type { SimulatorReply } from '../../simulator/store.ts';
import type { Claim, Delivery } from '../claim.ts';
import { NO_REPORT, type Outcome, type Report, type Verdict } from '../outcome/outcome.ts';
import type { Fact } from '../outcome/replies/meaning.ts';
import type { Replies } from '../outcome/replies/replies.ts';
import type { DeadEnd } from '../site/route.ts';
import type { Transport } from '../transport.ts';
import { behaviourOf, chosenOutcome, isForRecipient } from './chosen-reply.ts';
import type { SessionContext } from './session-context.ts';

type Verdicts = Map<RecipientRow['id'], Verdict>;
type Decide = (claim: Claim) => Verdicts | Promise<Verdicts>;

/** Returns the transport of the site. `decide` returns the verdict for each recipient of a claim. */
export function createDecidedTransport(
  { report }: Pick<SessionContext, 'report'>,
  decide: Decide,
): Transport {
  return {
    connection: null,
    isConnected: false,
    isLost: false,
    idleMs: 0,
    open: async () => undefined,
    async transact(claim) {
      const verdicts = await decide(claim);
      report({ kind: 'accepted' });
      return { kind: 'evaluated', verdicts, undecided: undefined, signature: null, transactionMs: 0 };
    },
    closeWhenFull: async () => {},
    close: async () => {},
    cut() {},
  };
}

/** X.1.2 is a domain that does not exist (RFC 3463 section 3.2). */
const NO_SUCH_DOMAIN = '5.1.2';
/** X.1.10 is a domain that does not accept mail (RFC 7505 section 4.2). */
const NULL_MX = '5.1.10';
/** X.4.6 is a loop (RFC 3463 section 3.5). */
const LOOP = '5.4.6';
/** X.4.4 is mail that cannot be routed, because DNS has no address for it (RFC 3463 section 3.5). */
const NO_ADDRESS = '4.4.4';
/**
 * Age from which mail to a domain without addresses is not tried any more. Who has made the mistake mends it within hours, and the sender
 * should learn of it the same day.
 */
const NO_ADDRESS_AGE_MS = 4 * 3_600_000;
/** Time between the two lookups that must both report a missing domain (NXDOMAIN) before its mail bounces. */
const NO_SUCH_DOMAIN_RETRY_MS = 3_600_000;

/** Returns the outcome of a delivery that DNS alone decides. */
export function deadEndOutcome(
  domain: string,
  plan: DeadEnd,
  delivery: Pick<Delivery, 'recipients'>,
): Outcome {
  switch (plan.kind) {
    case 'null-mx':
      return bounced('null-mx', NULL_MX, `${domain} takes no mail (null MX)`);
    case 'loop':
      return bounced('loop', LOOP, `The MX of ${domain} is this machine, which does not take its mail`);
    case 'no-domain':
      return noSuchDomain(domain, delivery);
    case 'no-address':
      return noAddress(plan.reason, delivery);
    case 'unresolved':
      return { kind: 'deferred', report: report('dns', null, `DNS: ${plan.reason}`) };
  }
}

/**
 * Returns a deferral for the first NXDOMAIN, which may be a short fault of a registry. A second NXDOMAIN an hour
 * later is a permanent bounce.
 */
function noSuchDomain(domain: string, delivery: Pick<Delivery, 'recipients'>): Outcome {
  const text = `${domain} does not exist (NXDOMAIN)`;
  if (wasSaidBefore(delivery, NO_SUCH_DOMAIN)) return bounced('no-domain', NO_SUCH_DOMAIN, text);
  const missing = report('no-domain', NO_SUCH_DOMAIN, text);
  return { kind: 'deferred', report: missing, retryAfterMs: NO_SUCH_DOMAIN_RETRY_MS };
}

/**
 * Returns a deferral, which ends the mail once it has waited for hours and the attempt before has found the same. Addresses may vanish
 * for a moment, and that never ends mail, however old it is.
 */
function noAddress(reason: string, delivery: Pick<Delivery, 'recipients'>): Outcome {
  const missing = report('no-address', NO_ADDRESS, `DNS: ${reason}`);
  if (!wasSaidBefore(delivery, NO_ADDRESS)) return { kind: 'deferred', report: missing };
  return { kind: 'deferred', report: missing, endsAtAgeMs: NO_ADDRESS_AGE_MS };
}

/** Returns true when the last attempt of each recipient ended with this status, which no server gave. A test of a delivery has no recipients. */
function wasSaidBefore({ recipients }: Pick<Delivery, 'recipients'>, status: string): boolean {
  if (recipients.length === 0) return false;
  return recipients.every(({ enhancedCode, smtpCode }) => enhancedCode === status && smtpCode === null);
}

function bounced(fact: Fact, enhancedCode: string, text: string): Outcome {
  return { kind: 'bounced', report: report(fact, enhancedCode, text) };
}

function report(fact: Fact, enhancedCode: string | null, text: string) {
  return { ...NO_REPORT, phase: 'dns', enhancedCode, text, fact } as const;
}

/** Retry delay of a simulated deferral. It is short, because somebody usually waits to see the retry. */
const SIMULATED_RETRY_MS = 2_000;

/** The reply that the tenant of the mail has chosen, and the table that says what a reply means. */
type Chosen = { reply: SimulatorReply; replies: Replies };

/** Returns the verdict of the simulator for each recipient of a delivery. A chosen reply goes before what the addresses say. */
export function simulateDelivery(
  config: Pick<Config, 'hostname'>,
  { recipients }: Delivery,
  chosen?: Chosen,
): Map<RecipientRow['id'], Verdict> {
  return new Map(
    recipients.map((recipient) => {
      const { id, address, domain, attempts } = recipient;
      if (chosen && isForRecipient(config, chosen.reply, recipient))
        return [id, { outcome: retriedSoon(chosenOutcome(chosen.replies, chosen.reply), attempts) }];
      return [id, isSimulatorDomain(config, domain) ? simulate(address, attempts) : { outcome: DELIVERED }];
    }),
  );
}

/**
 * Returns the outcome with a short delay after the first attempt. Later retries follow the schedule of live mail, because a reply that
 * defers may stay for days.
 */
function retriedSoon(outcome: Outcome, attempts: number): Outcome {
  return outcome.kind === 'deferred' && attempts === 1
    ? { ...outcome, retryAfterMs: SIMULATED_RETRY_MS }
    : outcome;
}

/**
 * Returns the simulated verdict for an address. The local part up to a `+` names the behaviour; an unknown name is
 * delivered.
 */
export function simulate(address: string, attempts: number): Verdict {
  const behaviour = behaviourOf(address);
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

const DELIVERED: Outcome = { kind: 'delivered', report: simulated(250, '2.0.0', 'Simulated: accepted') };
const BOUNCED: Outcome = {
  kind: 'bounced',
  report: simulated(550, '5.1.1', 'Simulated: no such mailbox'),
};
const DELAYED: Outcome = {
  kind: 'deferred',
  report: simulated(451, '4.7.1', 'Simulated: try again later'),
  retryAfterMs: SIMULATED_RETRY_MS,
};

function simulated(smtpCode: number, enhancedCode: string, text: string): Report {
  return { ...NO_REPORT, phase: 'simulated', smtpCode, enhancedCode, text };
}
