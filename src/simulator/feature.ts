/** The SMTP reply that a tenant chooses for the simulator; `store.ts` is the door. Deliveries that are simulated ask for it. */
import type { Feature } from '../feature.ts';
import { registerSimulatorApi } from './api.ts';

export const simulator = {
  name: 'simulator',
  routes: [registerSimulatorApi],
  // The reply is for the mail of all domains of the tenant.
  reach: { none: ['getSimulatorReply', 'setSimulatorReply', 'deleteSimulatorReply'] },
} satisfies Feature;
