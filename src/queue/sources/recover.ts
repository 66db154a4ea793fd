/** Ends suspensions: it probes the addresses of sources that are suspended, so that no mail has to find out. */
import type { App } from '../../app.ts';
import { probeSource } from '../../system/dial/probe-source.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { configuredSources } from './configured.ts';
import { findFault, type ProbeOne } from './probe.ts';
import type { Source } from './source.ts';
import { SUSPENDED_MS, suspensionsOf } from './sources.ts';
import { listSuspensions, resumeAddresses, type Suspension, suspendAddresses } from './store.ts';

const PERIOD_MS = 15_000;
/** Maximum number of probes at the same time. */
const MAX_PROBES = 16;

type ProbeApp = Pick<App, 'clock' | 'config' | 'db' | 'egress' | 'log' | 'wakeups'>;

/** Returns the work that probes suspended sources. */
export function createSourceProbes(app: ProbeApp): Work<'run'> {
  return periodic(app.clock, {
    name: 'probes of sources',
    periodMs: PERIOD_MS,
    run: () => probeSources(app),
  });
}

/** Probes what has been suspended long enough, each with `probeOne`. Suspensions of sources that have changed or are gone end at once. */
export async function probeSources(app: ProbeApp, probeOne: ProbeOne = probeSource): Promise<void> {
  const { clock, config, db, egress, log, wakeups } = app;
  if (egress.isHeld) return;
  const suspensions = await listSuspensions(db.read);
  if (suspensions.length === 0) return;
  const sources = configuredSources(config);
  const owned = new Map(
    sources.flatMap((source) => suspensionsOf(source, suspensions).map((one) => [one, source])),
  );
  const resumed = suspensions.filter((one) => !owned.has(one));
  const due = [...owned].filter(([suspension]) => isProbeDue(suspension, clock.now()));
  for (let begin = 0; begin < due.length; begin += MAX_PROBES) {
    const slice = due.slice(begin, begin + MAX_PROBES);
    const probed = await Promise.all(
      slice.map(([suspension, source]) => probe(app, { suspension, source, probeOne })),
    );
    resumed.push(...probed.filter((one) => one !== undefined));
  }
  if (resumed.length === 0) return;
  await db.commit(resumeAddresses, { resumed });
  for (const { source, address } of resumed) log.info({ source, address }, 'a source of mail is used again');
  wakeups.notify('outbound-routes');
}

/** A clock that was set back makes no suspension longer. */
function isProbeDue({ until }: Suspension, now: number): boolean {
  return until <= now || until > now + SUSPENDED_MS;
}

/** Returns the suspension when it is over, and prolongs it otherwise. */
async function probe(
  { clock, db }: ProbeApp,
  { suspension, source, probeOne }: { suspension: Suspension; source: Source; probeOne: ProbeOne },
): Promise<Suspension | undefined> {
  const { address } = suspension;
  const reason = await findFault(clock, { source, address }, probeOne);
  if (reason === undefined) return suspension;
  const prolonged = { ...suspension, reason, until: clock.now() + SUSPENDED_MS };
  await db.commit(suspendAddresses, { suspensions: [prolonged] });
  return undefined;
}
