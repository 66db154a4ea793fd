/**
 * Approvals: mail of some keys waits until a person approves it. This feature stores who asks for what and what was decided; emails and
 * broadcasts hold what waits, and have the routes that decide.
 */
import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { firstKeptId } from '../system/ids.ts';
import { registerApprovalsApi } from './api.ts';
import { expireApprovals } from './store.ts';

export const approvals = {
  name: 'approvals',
  ids: ['apr'],
  routes: [registerApprovalsApi],
  // An approval belongs to the domain that the mail is sent from.
  reach: { domain: ['listApprovals', 'getApproval'] },
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'approvals',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireApprovals, {
          before: firstKeptId('apr', now, config.retention.emailDays),
          ...slice,
        }),
    },
  ],
} satisfies Feature;
