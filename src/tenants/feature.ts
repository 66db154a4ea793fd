/** Tenants, their plans and their API keys; `authenticate.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerTenantAdmin } from './admin-api.ts';
import { registerApiKeysApi } from './keys-api.ts';
import { registerPlanApi } from './plan-api.ts';

export const tenants = {
  name: 'tenants',
  ids: ['ten', 'key'],
  routes: [registerApiKeysApi, registerPlanApi],
  reach: {
    tenant: ['getPlan'],
    // Any key may revoke itself. The operation refuses a limited key that asks for another one.
    every: ['deleteApiKey'],
    // A limited key must not make one with fewer limits.
    none: ['createApiKey', 'listApiKeys', 'getApiKey', 'updateApiKey'],
  },
  operatorRoutes: [registerTenantAdmin],
} satisfies Feature;
