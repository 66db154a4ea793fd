/** Suspends, resumes and probes a source for the operator. Queues are routed again, so that the change counts at once. */
import type { App } from '../../app.ts';
import { AppError, orNotFound } from '../../system/errors.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import { configuredSources } from './configured.ts';
import { findFault, type ProbeOne } from './probe.ts';
import { fingerprintOf, type Source } from './source.ts';
import { SUSPENDED_MS, suspensionsOf } from './sources.ts';
import { listSuspensions, resumeAddresses, resumeSource, suspendAddresses, suspendSource } from './store.ts';

type Operating = Pick<App, 'clock' | 'config' | 'db' | 'log' | 'wakeups'>;
type Probing = Operating & Pick<App, 'egress'>;

const HELD = 'Nothing leaves this restored installation until it is released';

/** The result of a probe of an address; `fault` is null when mail can leave from it. */
export type ProbedAddress = { address: string; fault: string | null };

/**
 * Suspends a source until it is resumed, also over restarts and changes of its settings. Mail that is claimed already still leaves from it.
 * @throws AppError not_found
 */
export async function suspendByHand(app: Operating, name: string, reason: string | null): Promise<void> {
  const { clock, db, log, wakeups } = app;
  const { name: source } = getSource(app, name);
  const words = reason === null ? null : cleanForeignText(reason);
  await db.commit(suspendSource, { source, reason: words, since: clock.now() });
  log.info({ source, reason: words }, 'the operator suspends a source of mail');
  wakeups.notify('outbound-routes');
}

/**
 * Uses a source again, whoever has suspended it. An address that still fails is suspended again by the mail that tries it.
 * @throws AppError not_found; invalid_state when it is not suspended
 */
export async function resumeByHand(app: Operating, name: string): Promise<void> {
  const { db, log, wakeups } = app;
  const { name: source } = getSource(app, name);
  if (!(await db.commit(resumeSource, { source })))
    throw new AppError('invalid_state', `The source ${source} is not suspended`);
  log.info({ source }, 'the operator resumes a source of mail');
  wakeups.notify('outbound-routes');
}

/**
 * Probes all addresses of a source now. One that fails is suspended, and one that answers is no longer, unless the operator has suspended
 * the source.
 * @throws AppError not_found; invalid_state while nothing may leave
 */
export async function probeByHand(app: Probing, name: string, probeOne?: ProbeOne): Promise<ProbedAddress[]> {
  const { clock, db, egress, wakeups } = app;
  const source = getSource(app, name);
  if (egress.isHeld) throw new AppError('invalid_state', HELD);
  const probed = await Promise.all(
    source.addresses.map(async (address) => {
      const fault = await findFault(clock, { source, address }, probeOne);
      return { address, fault: fault ?? null };
    }),
  );
  const before = suspensionsOf(source, await listSuspensions(db.read));
  const resumed = probed.flatMap(({ address, fault }) =>
    fault === null && before.some((one) => one.address === address) ? [{ source: name, address }] : [],
  );
  const suspensions = probed.flatMap(({ address, fault }) =>
    fault === null ? [] : [suspensionOf(source, { address, reason: fault, now: clock.now() })],
  );
  if (resumed.length > 0) await db.commit(resumeAddresses, { resumed });
  const isNew = suspensions.length > 0 && (await db.commit(suspendAddresses, { suspensions }));
  if (isNew || resumed.length > 0) wakeups.notify('outbound-routes');
  return probed;
}

function suspensionOf(
  source: Source,
  { address, reason, now }: { address: string; reason: string; now: number },
) {
  const until = now + SUSPENDED_MS;
  return { source: source.name, address, fingerprint: fingerprintOf(source), reason, since: now, until };
}

/** @throws AppError not_found */
function getSource({ config }: Pick<App, 'config'>, name: string): Source {
  return orNotFound(
    configuredSources(config).find((source) => source.name === name),
    'Source',
  );
}
