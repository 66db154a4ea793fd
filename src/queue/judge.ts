/** What an SMTP session said of a recipient, as the outcome of the attempt. */
import type { App } from '../app.ts';
import type { SmtpFailure, SmtpPhase } from '../mail/smtp/client/failure.ts';
import type { RecipientResult } from '../mail/smtp/client/transaction.ts';
import type { CrashPointName } from '../system/crash-point.ts';
import { classifyRefusal } from './classify.ts';
import { type Outcome, type Peer, reportFailure, reportReply } from './outcome.ts';

export function judge(peer: Peer, result: RecipientResult): Outcome {
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', report: reportReply(peer, 'dot', result.reply) };
    case 'refused':
      return classifyRefusal(peer, result.phase, result.reply);
    case 'failed':
      return judgeFailure(peer, result.failure);
  }
}

/** File descriptors and ports come back soon, or an operator brings them. */
const LOCAL_RETRY_MS = 10_000;

export function judgeFailure(peer: Peer, failure: SmtpFailure): Outcome {
  if (failure.kind === 'reply') return classifyRefusal(peer, failure.phase, failure.reply);
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

/** Undefined where no crash is wanted: being told of each phase has its price. */
export function crashOn(app: Pick<App, 'config' | 'crashPoint'>): ((phase: SmtpPhase) => void) | undefined {
  if (app.config.faults.crashAt === undefined) return undefined;
  return (phase) => {
    const point = CRASH_POINT_OF_PHASE[phase];
    if (point) app.crashPoint(point);
  };
}
