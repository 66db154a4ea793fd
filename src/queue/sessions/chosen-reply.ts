/** Gives test mail the SMTP reply that its tenant has chosen (src/simulator), with the outcome that the reply of a server would have. */
import type { Config } from '../../config/config.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { isSimulatorDomain } from '../../domains/sender.ts';
import type { SmtpReply } from '../../mail/smtp/reply.ts';
import type { SimulatorReply } from '../../simulator/store.ts';
import { classifyRefusal } from '../outcome/evaluate.ts';
import { NO_REPORT, type Outcome, reportReply } from '../outcome/outcome.ts';
import type { Replies } from '../outcome/replies/replies.ts';

/** Local part of the recipients that a reply for `custom` is for. */
const CUSTOM = 'custom';
/** A simulated reply is one to RCPT: the outcome is about the one recipient. */
const PHASE = 'rcpt';

/** Returns true when the reply is for this recipient of test mail. */
export function isForRecipient(
  config: Pick<Config, 'hostname'>,
  { recipients }: Pick<SimulatorReply, 'recipients'>,
  { address, domain }: Pick<RecipientRow, 'address' | 'domain'>,
): boolean {
  return recipients === 'all' || (isSimulatorDomain(config, domain) && behaviourOf(address) === CUSTOM);
}

/** Returns what an address of the simulator asks for: its local part without the label, in lower case. */
export function behaviourOf(address: string): string {
  return address.slice(0, address.lastIndexOf('@')).replace(/\+.*$/, '').toLowerCase();
}

/** Returns the outcome of the reply. It counts as simulated, so that it suppresses nobody. */
export function chosenOutcome(replies: Replies, chosen: SimulatorReply): Outcome {
  const reply = smtpReplyOf(chosen);
  const outcome: Outcome =
    chosen.code < 300
      ? { kind: 'delivered', report: reportReply(NO_REPORT, PHASE, reply) }
      : classifyRefusal(replies, NO_REPORT, { phase: PHASE, reply });
  return { ...outcome, report: { ...outcome.report, phase: 'simulated' } };
}

function smtpReplyOf({ code, enhancedCode, text }: SimulatorReply): SmtpReply {
  return {
    code,
    enhanced: enhancedCode ?? undefined,
    lines: [enhancedCode === null ? text : `${enhancedCode} ${text}`],
  };
}
