/**
 * Authenticates a message while it arrives, and decides afterwards whether it is accepted. Mail out of the queue of this installation, or
 * from a mail server of this machine, is not authenticated again: it never left the machine, and its evaluation comes with it.
 */
import type { ReceivedRecipientKind } from '../db/inbound-tables.ts';
import type { AuthenticationResult } from '../mail/auth/result.ts';
import { evaluateMessage } from '../mail/auth/verdict.ts';
import type { Reply } from '../mail/smtp/server/session.ts';
import { reporterOf } from '../mail-reports/reports/reporter.ts';
import { addressSite } from '../system/address-block.ts';
import { type Evaluation, type ReceivedEnvelope, targetsOf } from './envelope.ts';
import type { InboundApp } from './inbound-app.ts';
import type { Target } from './recipient.ts';

/** The decision on a whole message. */
export type Decision =
  | { kind: 'accepted'; evaluation: Evaluation }
  | { kind: 'refused'; reply: Reply; result: AuthenticationResult };

type Authentication = {
  /** Takes the next piece of the message, whose lines end with CRLF. */
  write(piece: Uint8Array): void;
  /** Returns the decision on the whole message. It never rejects. */
  decide(): Promise<Decision>;
  abort(): void;
};

/**
 * Kinds of recipients whose address proves that the message is an answer to one of ours. The servers that send such mail often
 * fail DMARC, and some have no valid From field.
 */
const ANSWERS: ReadonlySet<ReceivedRecipientKind> = new Set(['bounce', 'complaint', 'unsubscribe', 'srs']);

/** X.7.0 is a problem of security (RFC 3463 section 3.8). */
const LATER: Reply = {
  code: 451,
  status: '4.7.0',
  text: 'The signature of the complaint cannot be verified now; try again later',
};

/** Begins to authenticate a message. The caller calls either `decide` or `abort` of what it returns. */
export function beginAuthentication(
  { authenticator, config }: InboundApp,
  { client, evaluation, sender, recipients }: ReceivedEnvelope,
): Authentication {
  if (evaluation) return { write() {}, decide: async () => ({ kind: 'accepted', evaluation }), abort() {} };
  const { address, helo = '' } = client;
  const { hostname } = config;
  const running = authenticator.begin({ owner: addressSite(address), address, helo, sender, hostname });
  const targets = targetsOf(recipients);
  const isAnswer = targets.every(({ kind }) => ANSWERS.has(kind));
  return {
    write: (piece) => running.write(piece),
    async decide() {
      const result = await running.finish();
      if (isAnswer) return decideAnswer(result, targets);
      const decision = decide(result, {
        isNotification: sender === '',
        trustedSealers: config.inbound.trustedSealers,
      });
      const isReport = targets.some(({ kind }) => kind === 'report');
      return isReport && decision.kind === 'accepted' ? requireReporter(result, decision) : decision;
    },
    abort: () => running.abort(),
  };
}

function decide(result: AuthenticationResult, options: Parameters<typeof evaluateMessage>[1]): Decision {
  const verdict = evaluateMessage(result, options);
  switch (verdict.kind) {
    case 'accept':
      return { kind: 'accepted', evaluation: { result, isSubmitted: false, isFlagged: verdict.isFlagged } };
    case 'refuse':
    case 'defer': {
      const { code, status, text } = verdict;
      return { kind: 'refused', reply: { code, status, text }, result };
    }
  }
}

/** A complaint counts only when its reporter is proven, so a complaint that cannot be verified now must come again. */
function decideAnswer(result: AuthenticationResult, targets: readonly Target[]): Decision {
  const { dkim, dmarc } = result;
  const isComplaint = targets.some(({ kind }) => kind === 'complaint');
  const isProven = dkim.some(({ result: signature }) => signature === 'pass');
  const isOpen = [dmarc, ...dkim].some((outcome) => outcome.result === 'temperror');
  return isComplaint && isOpen && !isProven
    ? { kind: 'refused', reply: LATER, result }
    : { kind: 'accepted', evaluation: { result, isSubmitted: false, isFlagged: false } };
}

/** Anybody can find out the addresses for reports, so mail to them must say provably who sends it. */
function requireReporter(result: AuthenticationResult, decision: Decision): Decision {
  if (reporterOf(result) !== undefined) return decision;
  // X.7.0 is a problem of security, and X.7.1 a refusal by policy (RFC 3463 section 3.8).
  const isOpen = result.dkim.some(({ result: signature }) => signature === 'temperror');
  const text = 'Reports must pass DMARC, or have a DKIM signature that passes';
  const reply = isOpen ? { code: 451, status: '4.7.0', text } : { code: 550, status: '5.7.1', text };
  return { kind: 'refused', reply, result };
}
