/** Broadcasts: one email for the contacts of an audience or a segment; `api.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerBroadcastAdmin } from './admin-api.ts';
import { registerBroadcastsApi } from './api.ts';
import { createBroadcastKind } from './worker.ts';

export const broadcasts = {
  name: 'broadcasts',
  ids: ['brd'],
  routes: [registerBroadcastsApi],
  // A broadcast belongs to the domain that it is sent from.
  reach: {
    domain: [
      ...['createBroadcast', 'listBroadcasts', 'getBroadcast', 'updateBroadcast', 'deleteBroadcast'],
      ...['testBroadcast', 'preflightBroadcast'],
      ...['sendBroadcast', 'pauseBroadcast', 'resumeBroadcast', 'cancelBroadcast'],
      ...['listBroadcastRecipients', 'exportBroadcastRecipients', 'listClickedLinks', 'exportClickedLinks'],
    ],
  },
  operatorRoutes: [registerBroadcastAdmin],
  tasks: [createBroadcastKind],
} satisfies Feature;
