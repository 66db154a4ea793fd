/**
 * The sites as an operator sees and steers them: how they are spoken to, the end of connections, and the end of rests and of what
 * back-off rules have imposed. The schedule learns of both as it learns of anything else.
 */
import type { System } from '../system/system.ts';
import type { ScheduleEvent } from './schedule/events.ts';
import type { RunningSession } from './sessions/session.ts';
import type { Shaping } from './shaping/shaping.ts';
import type { Disconnected, DisconnectRequest, Lifted, LiftRequest, Sites } from './shaping/site-calls.ts';
import {
  type ConnectionReport,
  type Reporting,
  reportSites,
  type SiteReport,
} from './shaping/site-report.ts';

type SitesApp = Pick<Reporting, 'clock' | 'schedule' | 'claims'> &
  Pick<System, 'log'> & {
    shaping: Reporting['shaping'] & Pick<Shaping, 'lift'>;
    sessions: ReadonlyMap<number, RunningSession>;
    /** Tells the schedule. */
    tell(event: ScheduleEvent): void;
  };

/** Returns the sites of a dispatcher. */
export function createSites(app: SitesApp): Sites {
  const reporting = { ...app, connectionOf: (id: number) => app.sessions.get(id)?.connection ?? null };
  return {
    explainSites: async (named) => reportSites(reporting, named),
    disconnect: async (request) => disconnect(app, reportSites(reporting, request), request),
    liftRests: (request) => liftRests(app, reportSites(reporting, request), request),
  };
}

function disconnect(
  { sessions, tell, log }: SitesApp,
  reports: readonly SiteReport[],
  { connection, force }: DisconnectRequest,
): Disconnected[] {
  const ended = reports.flatMap(({ site, connections }) =>
    connections
      .filter(({ id }) => connection === null || id === connection)
      .map(({ id, host, address, state }) => ({ id, host, address, site, how: howItEnds(state, force) })),
  );
  for (const { id, how } of ended) {
    tell({ kind: 'dismissed', session: id });
    if (how === 'cut') sessions.get(id)?.cut();
  }
  for (const { id, site, host, address, how } of ended)
    log.info({ connection: id, site, host, address, how }, 'the operator ends a connection');
  return ended;
}

function howItEnds(state: ConnectionReport['state'], force: boolean): Disconnected['how'] {
  if (state === 'idle') return 'closed';
  return force ? 'cut' : 'after_message';
}

async function liftRests(
  app: SitesApp,
  reports: readonly SiteReport[],
  { restriction: wanted }: LiftRequest,
): Promise<Lifted[]> {
  const { shaping, tell, log } = app;
  const restrictions = new Map(
    reports
      .flatMap((report) => report.restrictions)
      .filter(({ id, rule }) => wanted === null || wanted === id || wanted === rule)
      .map((one) => [one.id, one]),
  );
  const rests = wanted === null ? reports.flatMap(restAfterFailures) : [];
  if (rests.length + restrictions.size === 0) return [];
  for (const id of restrictions.keys()) await shaping.lift(id);
  for (const { site } of wanted === null ? reports : []) tell({ kind: 'rest-lifted', site });
  const lifted = [...restrictions.values()].map((one) => ({ kind: 'restriction', ...one }) as const);
  for (const one of [...rests, ...lifted]) log.info(one, 'the operator lifts what keeps a site');
  return [...rests, ...lifted];
}

/** Returns the rest of a site that no rule has imposed. */
function restAfterFailures({ site, binding, restrictions }: SiteReport): Lifted[] {
  const { limit, until, reason } = binding;
  if (limit !== 'rest' || restrictions.some((one) => one.lower === null && one.tenantId === null)) return [];
  return [{ kind: 'rest', site, until, reason }];
}
