/**
 * The sites as an operator sees and steers them: how they are spoken to, the end of connections, the end of rests and of what
 * back-off rules have imposed, and what is forgotten about them. The schedule learns of all this as it learns of anything else.
 */
import { finishInSlices } from '../system/slices.ts';
import type { System } from '../system/system.ts';
import type { ScheduleEvent } from './schedule/events.ts';
import type { RunningSession } from './sessions/session.ts';
import { listKept } from './shaping/kept-mail.ts';
import type { Restriction } from './shaping/restriction.ts';
import type { Shaping } from './shaping/shaping.ts';
import type {
  Disconnected,
  DisconnectRequest,
  Lifted,
  LiftRequest,
  Sites,
  Unlearned,
} from './shaping/site-calls.ts';
import {
  type ConnectionReport,
  type NamedSite,
  type Reporting,
  reportSites,
  type SiteReport,
} from './shaping/site-report.ts';

type SitesApp = Pick<Reporting, 'clock' | 'schedule' | 'claims'> &
  Pick<System, 'log'> & {
    shaping: Reporting['shaping'] & Pick<Shaping, 'lift' | 'forgetMatches'>;
    sessions: ReadonlyMap<number, RunningSession>;
    /** Tells the schedule. */
    tell(event: ScheduleEvent): void;
  };

/** Returns the sites of a dispatcher. */
export function createSites(app: SitesApp): Sites {
  const reporting = { ...app, connectionOf: (id: number) => app.sessions.get(id)?.connection ?? null };
  const report = (named: NamedSite) => finishInSlices(reportSites(reporting, named));
  return {
    listKept: () => finishInSlices(listKept(app)),
    explainSites: report,
    disconnect: async (request) => disconnect(app, await report(request), request),
    liftRests: async (request) => liftRests(app, await report(request), request),
    forgetLearned: async (named) => forgetLearned(app, await report(named)),
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
  { name, restriction: wanted }: LiftRequest,
): Promise<Lifted[]> {
  const { shaping, tell, log } = app;
  // A place with rules in force may be named although no mail was routed there since the start.
  const isNamed = ({ place }: Restriction) => place.toLowerCase() === name;
  const restrictions = new Map(
    [...reports.flatMap((report) => report.restrictions), ...shaping.restrictions.filter(isNamed)]
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

function forgetLearned({ shaping, tell, log }: SitesApp, reports: readonly SiteReport[]): Unlearned[] {
  const forgotten = reports.map(({ site, learned: { failures } }) => ({ site, failures }));
  for (const one of forgotten) {
    shaping.forgetMatches(one.site);
    tell({ kind: 'unlearned', site: one.site });
    log.info(one, 'the operator has what was learned about a site forgotten');
  }
  return forgotten;
}

/** Returns the rest of a site that no rule has imposed. */
function restAfterFailures({ site, binding, restrictions }: SiteReport): Lifted[] {
  const { limit, until, reason } = binding;
  if (limit !== 'rest' || restrictions.some((one) => one.lower === null && one.tenantId === null)) return [];
  return [{ kind: 'rest', site, until, reason }];
}
