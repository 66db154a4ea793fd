/**
 * Translates what a relay of the operator answers into outcomes. A relay stands between us and the recipients: that it does not take
 * our connection, our login or our mail is a fact about the relay, which the operator can mend. Such mail waits, and no recipient
 * is suppressed for it. Refusals of a recipient or of a message mean what they mean elsewhere.
 */
import type { SmtpFailure, SmtpPhase } from '../../mail/smtp/client/failure.ts';
import type { RecipientResult } from '../../mail/smtp/client/transaction.ts';
import type { SmtpReply } from '../../mail/smtp/reply.ts';
import { classifyRefusal, evaluateFailure, evaluateResult } from './evaluate.ts';
import { explainReport } from './explain.ts';
import { type Outcome, type Peer, reportFailure, reportReply } from './outcome.ts';
import type { Replies } from './replies/replies.ts';

/**
 * Returns the outcome of a session with a relay that did not open. Only a requirement of the message ends its mail; whatever else
 * the relay or its TLS lacks is a deferral.
 */
export function evaluateRelayFailure(replies: Replies, peer: Peer, failure: SmtpFailure): Outcome {
  switch (failure.kind) {
    case 'reply':
      return deferByRelay(peer, failure);
    case 'tls':
    case 'protocol':
      return { kind: 'deferred', report: { ...reportFailure(peer, failure), fact: 'relay' } };
    default:
      return evaluateFailure(replies, peer, failure);
  }
}

/** Returns the outcome of an attempt through a relay for one recipient. */
export function evaluateRelayResult(replies: Replies, peer: Peer, result: RecipientResult): Outcome {
  if (result.kind === 'refused') return evaluateRefusal(replies, peer, result);
  if (result.kind === 'failed' && result.failure.kind === 'reply')
    return evaluateRefusal(replies, peer, result.failure);
  return evaluateResult(replies, peer, result);
}

/** Codes of a server that wants another login first, or more than it got (RFC 4954 section 6). */
const LOGIN_CODES: ReadonlySet<number> = new Set([530, 534, 535, 538]);
/** Enhanced codes about logins: X.7.8, X.7.9 and X.7.11 (RFC 4954 section 6). */
const LOGIN_STATUS = /^[45]\.7\.(?:8|9|11)$/;

function evaluateRefusal(
  replies: Replies,
  peer: Peer,
  refused: { phase: SmtpPhase; reply: SmtpReply },
): Outcome {
  const { code, enhanced = '' } = refused.reply;
  if (code < 500) return classifyRefusal(replies, peer, refused);
  const meaning = explainReport(replies.table, reportReply(peer, refused.phase, refused.reply));
  if (LOGIN_CODES.has(code) || LOGIN_STATUS.test(enhanced) || meaning.class === 'routing')
    return deferByRelay(peer, refused);
  const outcome = classifyRefusal(replies, peer, refused);
  // Words that are likely about the recipient, at the server of the recipient, prove nothing at a relay.
  if (outcome.kind !== 'bounced' || meaning.suppresses !== 'repeated') return outcome;
  return { kind: 'bounced', report: { ...outcome.report, fact: 'relay' } };
}

function deferByRelay(peer: Peer, { phase, reply }: { phase: SmtpPhase; reply: SmtpReply }): Outcome {
  const report = reportReply(peer, phase, reply);
  return {
    kind: 'deferred',
    report: { ...report, fact: 'relay', text: `The relay ${peer.mx} refuses our mail: ${report.text}` },
  };
}
