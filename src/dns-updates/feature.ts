/** Dynamic updates to the operator's own primary name server; `updates.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerDnsUpdatesAdmin } from './admin-api.ts';
import { createUpdateWork } from './updates.ts';

export const dnsUpdates = {
  name: 'dns-updates',
  operatorRoutes: [registerDnsUpdatesAdmin],
  works: [createUpdateWork],
} satisfies Feature;
