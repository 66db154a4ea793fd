/** Counts what an IMAP listener does. */
import type { Metrics } from '../../system/metrics.ts';
import type { FaultReason } from './fault.ts';

export type ImapMetrics = {
  connectionBegan(): void;
  login(result: 'accepted' | 'refused'): void;
  ended(reason: FaultReason): void;
};

/** Returns the counters of the listener with this section of the configuration. */
export function createImapMetrics(
  metrics: Pick<Metrics, 'counter'> | undefined,
  listener: string,
): ImapMetrics {
  const connections = metrics?.counter('imap_connections_total', 'IMAP connections that began.', [
    'listener',
  ]);
  const logins = metrics?.counter('imap_logins_total', 'Logins by IMAP.', ['listener', 'result']);
  const faults = metrics?.counter('imap_faults_total', 'IMAP connections that the server ended by itself.', [
    'listener',
    'reason',
  ]);
  return {
    connectionBegan: () => connections?.inc({ listener }),
    login: (result) => logins?.inc({ listener, result }),
    ended: (reason) => faults?.inc({ listener, reason }),
  };
}
