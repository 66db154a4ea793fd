/** The warm standby: another host that can go on from a state of seconds ago. */
import type { Feature } from '../feature.ts';
import { registerStandbyAdmin } from './admin-api.ts';
import { createShipping } from './worker.ts';

export const standby = {
  name: 'standby',
  operatorRoutes: [registerStandbyAdmin],
  works: [createShipping],
} satisfies Feature;
