import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { DAY_MS } from '../system/clock.ts';
import { registerSuppressionsAdmin } from './admin-api.ts';
import { registerSuppressionsApi } from './api.ts';
import { registerSuppressionFiles } from './csv-api.ts';
import { EVIDENCE_WINDOW_DAYS, expireEvidence } from './evidence-store.ts';

export const suppressions = {
  name: 'suppressions',
  ids: ['sup'],
  routes: [registerSuppressionsApi, registerSuppressionFiles],
  operatorRoutes: [registerSuppressionsAdmin],
  reach: {
    tenant: [
      ...['createSuppression', 'listSuppressions', 'getSuppression', 'deleteSuppression'],
      ...['createSuppressions', 'deleteSuppressions', 'importSuppressions', 'exportSuppressions'],
    ],
  },
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'bounce evidence',
      size: new SliceSize(),
      expire: (now, { rows }) => {
        const days = Math.max(config.retention.eventDays, EVIDENCE_WINDOW_DAYS);
        return db.commit(expireEvidence, { before: now - days * DAY_MS, rows });
      },
    },
  ],
} satisfies Feature;
