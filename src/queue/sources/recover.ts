/** Ends suspensions: it probes the addresses of sources that are suspended, so that no mail has to find out. */
import { isIPv6 } from 'node:net';
import type { App } from '../../app.ts';
import { probeSource } from '../../system/dial/probe-source.ts';
import { SourceError } from '../../system/dial/source-failure.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { configuredSources } from './configured.ts';
import { dialSource } from './dial-source.ts';
import type { Source } from './source.ts';
import { SUSPENDED_MS, suspensionsOf } from './sources.ts';
import { listSuspensions, resumeAddresses, type Suspension, suspendAddresses } from './store.ts';

const PERIOD_MS = 15_000;
/** Maximum time of a probe. */
const PROBE_MS = 10_000;
/** Maximum number of probes at the same time. */
const MAX_PROBES = 16;
/** Addresses that stand for hosts of their family. Nothing is sent there. */
const SOME_HOST = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' };

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
export async function probeSources(app: ProbeApp, probeOne: typeof probeSource = probeSource): Promise<void> {
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
  app: ProbeApp,
  { suspension, source, probeOne }: { suspension: Suspension; source: Source; probeOne: typeof probeSource },
): Promise<Suspension | undefined> {
  const { clock, db } = app;
  try {
    const host = isIPv6(suspension.address) ? SOME_HOST.ipv6 : SOME_HOST.ipv4;
    await probeOne(clock, await dialSource(source, host), PROBE_MS);
    return suspension;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const prolonged = { ...suspension, reason: error.message, until: clock.now() + SUSPENDED_MS };
    await db.commit(suspendAddresses, { suspensions: [prolonged] });
    return undefined;
  }
}
