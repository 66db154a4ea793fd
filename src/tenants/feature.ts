import type { Feature } from '../feature.ts';
import { registerTenantAdmin } from './admin-api.ts';
import { registerApiKeysApi } from './keys-api.ts';
import { registerPlanApi } from './plan-api.ts';

export const tenants = {
  name: 'tenants',
  ids: ['ten', 'key'],
  routes: [registerApiKeysApi, registerPlanApi],
  operatorRoutes: [registerTenantAdmin],
} satisfies Feature;
