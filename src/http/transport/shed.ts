/** Refuses writes while the daemon is overloaded or its disk is nearly full (system/guards/overload.ts). */
import type { FastifyInstance } from 'fastify';
import { type Overload, overloadRefusal } from '../../system/guards/overload.ts';
import type { Metrics } from '../../system/metrics.ts';

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
