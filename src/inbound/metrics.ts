/** The metrics of received mail. */
import type { App } from '../app.ts';
import { countPendingTasks, type KindLoad } from './tasks/read-store.ts';

export type InboundMetrics = {
  /** Counts the verdict on a message by the code of its reply. */
  answered(code: number): void;
  /** Counts the time from the last byte of a message to its acceptance. */
  accepted(durationMs: number): void;
  /** Counts a recipient that was refused for its sender. */
  senderRefused(check: 'dnsbl' | 'greylisting'): void;
  /** Counts a message that was answered as spam. */
  spamChecked(verdict: 'clean' | 'flagged' | 'refused'): void;
};

const ACCEPT_BUCKETS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const MS_PER_SECOND = 1_000;

/** Registers the metrics. */
export function createInboundMetrics({ metrics }: Pick<App, 'metrics'>): InboundMetrics {
  const messages = metrics.counter('inbound_messages_total', 'Messages that arrived, by verdict.', [
    'verdict',
  ]);
  const refusals = metrics.counter('inbound_sender_refusals_total', 'Recipients refused for their sender.', [
    'check',
  ]);
  const spam = metrics.counter('inbound_spam_total', 'Messages that were answered as spam, by verdict.', [
    'verdict',
  ]);
  const durations = metrics.histogram(
    'inbound_accept_duration_seconds',
    'Time from the last byte of a message to the reply that accepts it.',
    { buckets: ACCEPT_BUCKETS_SECONDS },
  );
  return {
    answered: (code) =>
      messages.inc({ verdict: code < 400 ? 'accepted' : code < 500 ? 'deferred' : 'refused' }),
    accepted: (durationMs) => durations.observe(durationMs / MS_PER_SECOND),
    senderRefused: (check) => refusals.inc({ check }),
    spamChecked: (verdict) => spam.inc({ verdict }),
  };
}

/** Registers the metrics of the tasks that wait. They are read whenever metrics are shown. */
export function watchTasks({ metrics, db, clock }: Pick<App, 'metrics' | 'db' | 'clock'>): void {
  const read = async (select: (load: KindLoad) => number) => {
    const loads = await db.query(countPendingTasks, undefined);
    return loads.map((load) => ({ labels: { kind: load.kind }, value: select(load) }));
  };
  metrics.gauges('inbound_waiting_tasks', 'Tasks of received mail that have not ended.', {
    labels: ['kind'],
    read: () => read(({ waiting }) => waiting),
  });
  metrics.gauges('inbound_oldest_task_seconds', 'Age of the oldest task that has not ended.', {
    labels: ['kind'],
    read: () => read(({ since }) => Math.max(0, clock.now() - since) / MS_PER_SECOND),
  });
}
