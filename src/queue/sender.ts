/** Judges whether scheduled mail may still be sent when it becomes due, because its domain may have changed meanwhile. */
import type { App } from '../app.ts';
import { mayStillSend } from '../domains/sender.ts';
import type { Delivery } from './claim.ts';
import { NO_REPORT, type Outcome } from './outcome/outcome.ts';

/** X.7.1 is a sender that is not authorized (RFC 3463 section 3.8). */
const NOT_AUTHORISED = '5.7.1';

/**
 * Returns a bounce when the sender's domain is no longer verified, and undefined when the mail may be sent. Only
 * scheduled mail is judged: other mail was judged when it was accepted, and mail with a signature is only being
 * retried.
 */
export async function judgeSender(
  app: Pick<App, 'db' | 'clock'>,
  { message }: Pick<Delivery, 'message'>,
): Promise<Outcome | undefined> {
  const wasScheduled = message.datedAt > message.createdAt;
  if (!wasScheduled || message.signature !== null || message.domainId === null) return undefined;
  if (await mayStillSend(app, message.domainId)) return undefined;
  const text = 'The domain of the sender was no longer verified when this email was due';
  return {
    kind: 'bounced',
    report: { ...NO_REPORT, phase: 'local', enhancedCode: NOT_AUTHORISED, text, fact: 'unverified-sender' },
  };
}
