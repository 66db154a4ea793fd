/** Starts and ends the warm-up of a source for the operator. Queues are routed again, so that the change counts at once. */
import type { App } from '../../../app.ts';
import { invalid, notFound } from '../../../system/errors.ts';
import { packagedCurves } from './curves.ts';
import { startWarmUp, stopWarmUp } from './store.ts';

type Operating = Pick<App, 'clock' | 'config' | 'db' | 'wakeups'>;

/** Name of the curve of a warm-up that names none. */
const DEFAULT_CURVE = 'standard';

/**
 * Starts the warm-up of a source on its first day, also when it is warmed up already.
 * @throws AppError not_found; validation_error for a curve that is not in the table
 */
export async function beginWarmUp(app: Operating, source: string, curve = DEFAULT_CURVE): Promise<void> {
  requireSource(app, source);
  const curves = [...packagedCurves().keys()];
  if (!curves.includes(curve)) throw invalid('curve', `\`curve\` must be one of ${curves.join(', ')}`);
  await app.db.commit(startWarmUp, { source, curve, startedAt: app.clock.now() });
  app.wakeups.notify('outbound-routes');
}

/**
 * Ends the warm-up of a source, which then takes any number of first attempts.
 * @throws AppError not_found when it is not warmed up
 */
export async function endWarmUp(app: Operating, source: string): Promise<void> {
  const isEnded = await app.db.commit(stopWarmUp, { source });
  if (!isEnded) throw notFound('Warm-up');
  app.wakeups.notify('outbound-routes');
}

function requireSource({ config }: Pick<App, 'config'>, name: string): void {
  if (!config.outbound.sources.some((source) => source.name === name)) throw notFound('Source');
}
