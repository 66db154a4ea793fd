/** Counts what an SMTP listener does. */
import type { Metrics } from '../../../system/metrics.ts';
import type { FaultReason } from './fault.ts';

/** The hook of a session that refused. */
type SessionHook = 'connect' | 'ehlo' | 'auth' | 'mail' | 'rcpt' | 'data';

export type SmtpMetrics = {
  sessionBegan(): void;
  messageAccepted(): void;
  refused(reason: FaultReason | SessionHook): void;
};

/** Returns the counters of the listener with this section of the configuration. */
export function createSmtpMetrics(
  metrics: Pick<Metrics, 'counter'> | undefined,
  listener: string,
): SmtpMetrics {
  const sessions = metrics?.counter('smtp_sessions_total', 'SMTP sessions that began.', ['listener']);
  const messages = metrics?.counter('smtp_messages_total', 'Messages that were accepted by SMTP.', [
    'listener',
  ]);
  const refusals = metrics?.counter(
    'smtp_refusals_total',
    'What SMTP refused, by the command that a session refused or by the rule of the server.',
    ['listener', 'reason'],
  );
  const labels = { listener };
  return {
    sessionBegan: () => sessions?.inc(labels),
    messageAccepted: () => messages?.inc(labels),
    refused: (reason) => refusals?.inc({ listener, reason }),
  };
}
