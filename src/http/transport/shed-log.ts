/** Logs requests that were refused under load, as sums, because under load there are many. */
import type { Log } from '../../system/log.ts';
import type { Metrics } from '../../system/metrics.ts';
import type { System } from '../../system/system.ts';
import { periodic, type Work } from '../../system/worker.ts';

const PERIOD_MS = 10_000;

/** Creates work that writes a line after each period in which requests were shed, with the number for each reason. */
export function createShedLog({ clock, log, metrics }: ShedLogSystem): Work<'run'> {
  const logged = new Map<string, number>();
  return periodic(clock, {
    name: 'shed log',
    periodMs: PERIOD_MS,
    async run() {
      const reasons: Record<string, number> = {};
      let requests = 0;
      for (const { labels, value } of (await metrics.shedRequests.get()).values) {
        const reason = String(labels.reason);
        const count = value - (logged.get(reason) ?? 0);
        logged.set(reason, value);
        if (count > 0) reasons[reason] = count;
        requests += count;
      }
      if (requests > 0) log.info({ requests, reasons, seconds: PERIOD_MS / 1_000 }, 'requests shed');
    },
  });
}

type ShedLogSystem = Pick<System, 'clock'> & {
  log: Pick<Log, 'info'>;
  metrics: Pick<Metrics, 'shedRequests'>;
};
