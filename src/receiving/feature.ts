/** The reception of mail, from a connection to the rows on disk; `listener.ts` is the door. */
import type { Feature } from '../feature.ts';
import { receivedSteps } from './expire.ts';
import { registerInboundAdmin } from './operator/admin-api.ts';
import { createGreylistSweep } from './sender/worker.ts';

export const receiving = {
  name: 'receiving',
  operatorRoutes: [registerInboundAdmin],
  works: [createGreylistSweep],
  retention: receivedSteps,
} satisfies Feature;
