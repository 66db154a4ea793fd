/** Says in the words of the API what the mail of a queue waits for (queue/waiting.ts). */
import type { Clock } from '../../system/clock.ts';
import { parseQueueKey } from '../queue-key.ts';
import type { QueueExplanation, SiteExplanation } from '../schedule/explain.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { QueueWait, QueueWaits, Waiting } from '../waiting.ts';

/** Returns what the due mail of queues waits for. */
export function waitsOf(
  schedule: Pick<Schedule, 'explainQueue'>,
  queues: readonly string[],
  clock: Pick<Clock, 'now' | 'elapsed'>,
): QueueWaits {
  const waits = new Map<string, QueueWait>();
  for (const key of queues) {
    const explained = schedule.explainQueue(key, clock.elapsed());
    if (!explained) continue;
    const { tenantId } = parseQueueKey(key);
    const wait = waitOf(explained, tenantId, clock.now() - clock.elapsed());
    if (wait.firstAttempts || wait.retries) waits.set(key, wait);
  }
  return waits;
}

/** `toUnix` is added to times of the monotonic clock. */
function waitOf(
  { noSource, fullWarmUp, site }: QueueExplanation,
  tenantId: string,
  toUnix: number,
): QueueWait {
  // A source that cannot be used rests.
  const all: Waiting | undefined = noSource
    ? { reason: 'rest', until: noSource.until + toUnix }
    : site && waitingAt(site, tenantId, toUnix);
  const first: Waiting | undefined = fullWarmUp
    ? { reason: 'warm_up', until: fullWarmUp.until + toUnix }
    : all;
  return { firstAttempts: first, retries: all };
}

/** Returns what the mail of a tenant waits for at a site; undefined when it is only behind other mail. */
function waitingAt(
  { binding, restingTenants }: SiteExplanation,
  tenantId: string,
  toUnix: number,
): Waiting | undefined {
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
