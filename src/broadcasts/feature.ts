/** Broadcasts: one email for the contacts of an audience or a segment; `api.ts` is the door. */
import type { App } from '../app.ts';
import { createExpiryKind } from '../approvals/expiry.ts';
import type { Feature } from '../feature.ts';
import { registerBroadcastAdmin } from './admin-api.ts';
import { registerBroadcastsApi } from './api.ts';
import { expireBroadcastApproval } from './approval/decide.ts';
import { registerBroadcastApprovalApi } from './approval-api.ts';
import { createBroadcastKind } from './worker.ts';

export const broadcasts = {
  name: 'broadcasts',
  ids: ['brd'],
  routes: [registerBroadcastsApi, registerBroadcastApprovalApi],
  // A broadcast belongs to the domain that it is sent from.
  reach: {
    domain: [
      ...['createBroadcast', 'listBroadcasts', 'getBroadcast', 'updateBroadcast', 'deleteBroadcast'],
      ...['testBroadcast', 'preflightBroadcast', 'approveBroadcast', 'declineBroadcast'],
      ...['previewBroadcast', 'listBroadcastProviders'],
      ...['sendBroadcast', 'pauseBroadcast', 'resumeBroadcast', 'cancelBroadcast'],
      ...['listBroadcastRecipients', 'exportBroadcastRecipients', 'listClickedLinks', 'exportClickedLinks'],
    ],
  },
  // Whatever has paused a broadcast, a person decides that it goes on.
  beyondApproval: ['approveBroadcast', 'declineBroadcast', 'resumeBroadcast'],
  operatorRoutes: [registerBroadcastAdmin],
  tasks: [createBroadcastKind, (app: App) => createExpiryKind(app, 'broadcast', expireBroadcastApproval)],
} satisfies Feature;
