/** The built-in name server for the zone of the hostname; `name-server.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerNameServerAdmin } from './name-server.ts';

export const nameserver = {
  name: 'nameserver',
  operatorRoutes: [registerNameServerAdmin],
} satisfies Feature;
