/** Says in the words of the API what the mail of a queue waits for (queue/waiting.ts). */
import type { Clock } from '../../system/clock.ts';
import { parseQueueKey } from '../queue-key.ts';
import type { QueueExplanation } from '../schedule/explain.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { QueueWaits, Waiting } from '../waiting.ts';

/** Returns what the due mail of queues waits for. */
export function waitsOf(
  schedule: Pick<Schedule, 'explainQueue'>,
  queues: readonly string[],
  clock: Pick<Clock, 'now' | 'elapsed'>,
): QueueWaits {
  const waits = new Map<string, Waiting>();
  for (const key of queues) {
    const explained = schedule.explainQueue(key, clock.elapsed());
    const waiting =
      explained && waitingAt(explained, parseQueueKey(key).tenantId, clock.now() - clock.elapsed());
    if (waiting) waits.set(key, waiting);
  }
  return waits;
}

/**
 * Returns what the mail of a tenant waits for; undefined when it is only behind other mail. `toUnix` is added to times of the
 * monotonic clock.
 */
function waitingAt(explained: QueueExplanation, tenantId: string, toUnix: number): Waiting | undefined {
  // A source that cannot be used rests.
  if (explained.kind === 'waiting')
    return { reason: explained.cause === 'warm_up' ? 'warm_up' : 'rest', until: explained.until + toUnix };
  const { binding, restingTenants } = explained;
  const resting = restingTenants.find((one) => one.tenantId === tenantId);
  if (resting) return { reason: 'rest', until: resting.until + toUnix };
  const until = binding.until === null ? null : binding.until + toUnix;
  switch (binding.limit) {
    case 'rest':
    case 'probe':
      return { reason: 'rest', until };
    case 'recipients_per_minute':
    case 'connections_per_minute':
      return { reason: 'rate', until };
    default:
      return undefined;
  }
}
