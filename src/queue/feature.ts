import type { App } from '../app.ts';
import { createTableWork } from '../config/table-file.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { DAY_MS } from '../system/clock.ts';
import { firstKeptId } from '../system/ids.ts';
import { registerQueueAdmin } from './admin-api.ts';
import { expireAttempts } from './attempts-store.ts';
import { registerQueueControl } from './control/admin-api.ts';
import { type Censuses, createCensusWork } from './control/census.ts';
import { registerMessageAdmin } from './control/message-api.ts';
import { registerSiteReport } from './control/site-api.ts';
import { expireSites } from './control/site-store.ts';
import { expireActions } from './control/store.ts';
import { createActionKind } from './control/sweep.ts';
import { registerTrace } from './control/trace-api.ts';
import { CONVERSATION_DAYS, expireConversations } from './conversation/store.ts';
import { registerDeliveryTest } from './delivery-test/admin-api.ts';
import { createProbeWork } from './held/probe.ts';
import type { RepliesFile } from './outcome/replies/replies.ts';
import { createOverdueWork } from './overdue/sweep.ts';
import { registerSources } from './sources/admin-api.ts';
import { createSourceProbes } from './sources/recover.ts';
import { registerSuppressionReview } from './suppression-review/admin-api.ts';
import { createRecoveryWork } from './worker.ts';

export const queue = {
  name: 'queue',
  ids: ['em', 'rcp', 'att', 'cnv', 'qa'],
  operatorRoutes: [
    registerQueueAdmin,
    registerQueueControl,
    registerTrace,
    registerSiteReport,
    registerDeliveryTest,
    registerMessageAdmin,
    registerSources,
    registerSuppressionReview,
  ],
  works: [
    (app: Pick<App, 'clock'> & { replies: RepliesFile }) => createTableWork(app, app.replies),
    createRecoveryWork,
    createProbeWork,
    createOverdueWork,
    createSourceProbes,
    (app: Pick<App, 'clock'> & { censuses: Censuses }) => createCensusWork(app, app.censuses),
  ],
  tasks: [createActionKind],
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'attempts',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireAttempts, { before: firstKeptId('att', now, config.retention.eventDays), ...slice }),
    },
    {
      kind: 'conversations',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireConversations, { before: firstKeptId('cnv', now, CONVERSATION_DAYS), ...slice }),
    },
    {
      kind: 'queue actions',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireActions, { before: firstKeptId('qa', now, config.retention.eventDays), ...slice }),
    },
    {
      kind: 'sites of domains',
      size: new SliceSize(),
      expire: (now) => db.commit(expireSites, { before: now - config.retention.eventDays * DAY_MS }),
    },
  ],
} satisfies Feature;
