/** Translates the result of an SMTP session for one recipient into the outcome of the attempt. */
import type { App } from '../../app.ts';
import type { CrashPointName } from '../../crash-points.ts';
import type { SmtpFailure, SmtpPhase } from '../../mail/smtp/client/failure.ts';
import type { RecipientResult } from '../../mail/smtp/client/transaction.ts';
import { classifyRefusal } from './classify.ts';
import { type Outcome, type Peer, reportFailure, reportReply } from './outcome.ts';
import type { Replies } from './replies/replies.ts';

/** Returns the outcome of an attempt for one recipient. */
export function judge(replies: Replies, peer: Peer, result: RecipientResult): Outcome {
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', report: reportReply(peer, 'dot', result.reply) };
    case 'refused':
      return classifyRefusal(replies, peer, result);
    case 'failed':
      return judgeFailure(replies, peer, result.failure);
  }
}

/** Retry delay after a local failure. File descriptors and ports soon become free again. */
const LOCAL_RETRY_MS = 10_000;

/**
 * Returns the outcome of a session or a command that failed. A reply is classified; any other failure is a deferral.
 */
export function judgeFailure(replies: Replies, peer: Peer, failure: SmtpFailure): Outcome {
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

const CRASH_POINT_OF_PHASE: Partial<Record<SmtpPhase, CrashPointName>> = {
  connect: 'smtp-connected',
  mail: 'smtp-after-mail',
  body: 'smtp-mid-data',
  dot: 'smtp-after-dot',
};

/**
 * Returns the function that ends the process at the configured crash point. Returns undefined when no crash point is
 * configured, because reporting each phase costs time.
 */
export function crashOn(app: Pick<App, 'config' | 'crashPoint'>): ((phase: SmtpPhase) => void) | undefined {
  if (app.config.faults.crashAt === undefined) return undefined;
  return (phase) => {
    const point = CRASH_POINT_OF_PHASE[phase];
    if (point) app.crashPoint(point);
  };
}
