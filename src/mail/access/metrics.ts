/** Counts what a listener for mail access does. */
import type { Metrics } from '../../system/metrics.ts';
import type { FaultReason } from './fault.ts';

export type AccessMetrics = {
  connectionBegan(): void;
  login(result: 'accepted' | 'refused'): void;
  ended(reason: FaultReason): void;
};

/**
 * Returns the counters of the listener with this section of the configuration. Their names begin with that of the protocol, such as
 * `imap_logins_total`.
 */
export function createAccessMetrics(
  metrics: Pick<Metrics, 'counter'> | undefined,
  { protocol, listener }: { protocol: string; listener: string },
): AccessMetrics {
  const prefix = protocol.toLowerCase();
  const connections = metrics?.counter(`${prefix}_connections_total`, `${protocol} connections that began.`, [
    'listener',
  ]);
  const logins = metrics?.counter(`${prefix}_logins_total`, `Logins by ${protocol}.`, ['listener', 'result']);
  const faults = metrics?.counter(
    `${prefix}_faults_total`,
    `${protocol} connections that the server ended by itself.`,
    ['listener', 'reason'],
  );
  return {
    connectionBegan: () => connections?.inc({ listener }),
    login: (result) => logins?.inc({ listener, result }),
    ended: (reason) => faults?.inc({ listener, reason }),
  };
}
