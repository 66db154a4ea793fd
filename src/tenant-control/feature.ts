/** What the operator does with a whole tenant: suspends it and resumes it. */
import type { Feature } from '../feature.ts';
import { registerTenantControl } from './admin-api.ts';
import { createResumptionKind } from './suspend.ts';

export const tenantControl = {
  name: 'tenant-control',
  operatorRoutes: [registerTenantControl],
  tasks: [createResumptionKind],
} satisfies Feature;
