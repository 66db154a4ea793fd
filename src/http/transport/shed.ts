/** Refuses writes while the daemon is overloaded or its disk is nearly full (system/guards/overload.ts). */
import type { FastifyInstance } from 'fastify';
import { type Overload, overloadRefusal } from '../../system/guards/overload.ts';
import type { Log } from '../../system/log.ts';
import type { Metrics } from '../../system/metrics.ts';
import type { System } from '../../system/system.ts';
import { periodic, type Work } from '../../system/worker.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True for a POST that is accepted although free disk space is below the reserve, because it frees, stops or
     * protects something.
     */
    worksOnLowDisk?: boolean;
  }
}

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Methods that add data. A PATCH changes existing data, and a DELETE removes it. */
const ADDING = new Set(['POST', 'PUT']);

type Shedding = {
  overload: Overload;
  metrics?: Pick<Metrics, 'shedRequests'>;
};

/** Refuses writes on every route that is registered on `scope` afterwards, while a reason exists. */
export function shedWrites(scope: FastifyInstance, { overload, metrics }: Shedding): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (!WRITES.has(request.method)) return done();
    const addsData = ADDING.has(request.method) && request.routeOptions.config.worksOnLowDisk !== true;
    const reason = overload.reasonToRefuse(addsData ? 'addition' : 'change');
    if (reason === undefined) return done();
    metrics?.shedRequests.inc({ reason });
    done(overloadRefusal(reason));
  });
}

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
