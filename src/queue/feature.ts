import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { firstKeptId } from '../system/ids.ts';
import { registerQueueAdmin } from './admin-api.ts';
import { expireAttempts } from './attempts-store.ts';
import { createProbeWork } from './held/probe.ts';
import { createRepliesWork, type RepliesFile } from './outcome/replies/replies.ts';
import { registerSuppressionReview } from './suppression-review/admin-api.ts';
import { createRecoveryWork } from './worker.ts';

export const queue = {
  name: 'queue',
  ids: ['em', 'rcp', 'att'],
  operatorRoutes: [registerQueueAdmin, registerSuppressionReview],
  works: [
    (app: Pick<App, 'clock'> & { replies: RepliesFile }) => createRepliesWork(app, app.replies),
    createRecoveryWork,
    createProbeWork,
  ],
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'attempts',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireAttempts, { before: firstKeptId('att', now, config.retention.eventDays), ...slice }),
    },
  ],
} satisfies Feature;
