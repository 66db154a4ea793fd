/** Translates the result of an SMTP session for one recipient into the outcome of the attempt. */
import type { SmtpFailure, SmtpPhase } from '../../mail/smtp/client/failure.ts';
import type { RecipientResult } from '../../mail/smtp/client/transaction.ts';
import type { SmtpReply } from '../../mail/smtp/reply.ts';
import { explainReport } from './explain.ts';
import { type Outcome, type Peer, reportFailure, reportReply } from './outcome.ts';
import type { ReplyClass } from './replies/meaning.ts';
import type { Replies } from './replies/replies.ts';

/** Returns the outcome of an attempt for one recipient. */
export function evaluateResult(replies: Replies, peer: Peer, result: RecipientResult): Outcome {
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', report: reportReply(peer, 'dot', result.reply) };
    case 'refused':
      return classifyRefusal(replies, peer, result);
    case 'failed':
      return evaluateFailure(replies, peer, result.failure);
  }
}

/** Retry delay after a local failure. File descriptors and ports soon become free again. */
const LOCAL_RETRY_MS = 10_000;

/**
 * Returns the outcome of a session or a command that failed. A reply is classified; any other failure is a deferral.
 */
export function evaluateFailure(replies: Replies, peer: Peer, failure: SmtpFailure): Outcome {
  if (failure.kind === 'reply') return classifyRefusal(replies, peer, failure);
  if (failure.kind === 'requirement') {
    const fact = failure.status === '5.6.7' ? 'no-smtputf8' : 'requirement';
    return {
      kind: 'bounced',
      report: { ...reportFailure(peer, failure), enhancedCode: failure.status, fact },
    };
  }
  if (failure.kind === 'local') {
    const report = { ...reportFailure(peer, failure), phase: 'local' } as const;
    return { kind: 'deferred', report, retryAfterMs: LOCAL_RETRY_MS };
  }
  return { kind: 'deferred', report: reportFailure(peer, failure) };
}

/**
 * Returns the outcome of a session that failed with a host that must prove who it is. Its reply is no verdict on the mail, because whoever
 * is in the way could have the mail returned by it (RFC 7672 section 2.2).
 */
export function evaluateUnprovenFailure(replies: Replies, peer: Peer, failure: SmtpFailure): Outcome {
  const outcome = evaluateFailure(replies, peer, failure);
  if (outcome.kind !== 'bounced' || failure.kind !== 'reply') return outcome;
  return { kind: 'deferred', report: outcome.report };
}

/** Phases before a message. A refusal there is about the client or that host, and another host or a later attempt may succeed. */
const BEFORE_MAIL: ReadonlySet<SmtpPhase> = new Set(['connect', 'banner', 'ehlo', 'starttls']);

/** Classes that ask for another try of the same message, whatever the code. */
const ASKS_FOR_RETRY: ReadonlySet<ReplyClass> = new Set(['too-many-rcpt', 'greylist']);

/** Returns the outcome of a refused command. */
export function classifyRefusal(
  replies: Replies,
  peer: Peer,
  { phase, reply }: { phase: SmtpPhase; reply: SmtpReply },
): Outcome {
  const report = reportReply(peer, phase, reply);
  // A 503 or a 3xx reply means that the session went wrong.
  if (reply.code < 500 || reply.code === 503) return { kind: 'deferred', report };
  const meaning = explainReport(replies.table, report);
  const isOver = BEFORE_MAIL.has(phase) ? meaning.class === 'bad-domain' : !ASKS_FOR_RETRY.has(meaning.class);
  return { kind: isOver ? 'bounced' : 'deferred', report };
}
