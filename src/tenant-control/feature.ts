/** Lets the operator suspend a tenant, resume it, and delete it with everything that it owns. */
import type { Feature } from '../feature.ts';
import { registerTenantControl } from './admin-api.ts';
import { createDeletionKind } from './delete.ts';
import { createResumptionKind } from './suspend.ts';

export const tenantControl = {
  name: 'tenant-control',
  operatorRoutes: [registerTenantControl],
  tasks: [createResumptionKind, createDeletionKind],
} satisfies Feature;
