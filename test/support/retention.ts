/** The work of retention with the steps of all features, as the daemon starts it. */
import type { App } from '../../src/app.ts';
import { entriesOf } from '../../src/features.ts';
import { createRetentionWork } from '../../src/retention/worker.ts';

/** Returns the work. */
export function createAllRetention(app: App) {
  return createRetentionWork(
    app,
    entriesOf('retention').flatMap((createSteps) => createSteps(app)),
  );
}
