/** Decides whether a refusal of a peer is a deferral or a bounce. What the refusal means for the address, the reply table says. */
import type { SmtpPhase } from '../../mail/smtp/client/failure.ts';
import type { SmtpReply } from '../../mail/smtp/reply.ts';
import { explainReport } from './explain.ts';
import { type Outcome, type Peer, reportReply } from './outcome.ts';
import type { ReplyClass } from './replies/meaning.ts';
import type { Replies } from './replies/replies.ts';

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
