/** What the operator does with a whole tenant: suspends it, resumes it, and deletes it with everything that it owns. */
import type { Feature } from '../feature.ts';
import { registerTenantControl } from './admin-api.ts';
import { createDeletionKind } from './delete.ts';
import { createResumptionKind } from './suspend.ts';

export const tenantControl = {
  name: 'tenant-control',
  operatorRoutes: [registerTenantControl],
  tasks: [createResumptionKind, createDeletionKind],
} satisfies Feature;
