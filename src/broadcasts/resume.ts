/** Resumes broadcasts. */
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { control } from './control.ts';
import type { Author } from './draft.ts';
import { findRun } from './runs/store.ts';
import { startBroadcast } from './start.ts';
import { getBroadcast } from './store.ts';

type ResumeApp = Pick<App, 'db' | 'clock' | 'config' | 'htmlText' | 'linkFinder' | 'wakeups' | 'log'>;

/**
 * Resumes a paused broadcast, or starts the one that was paused because its start was late. Returns it.
 * @throws AppError not_found, invalid_state; for one that is started, also validation_error, restricted_api_key and
 * domain_not_verified
 */
export async function resumeBroadcast(app: ResumeApp, caller: Author, id: string): Promise<BroadcastRow> {
  const broadcast = await getBroadcast(app.db.read, caller, id);
  const run = await findRun(app.db.read, broadcast.id);
  if (broadcast.status === 'paused' && run?.startedAt === null)
    return startBroadcast(app, caller, { id, from: ['paused'] });
  return control(app, { owner: caller, id, cause: 'resumed' });
}
