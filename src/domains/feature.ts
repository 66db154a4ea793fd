/** Domains of tenants, which DNS verifies for sending and receiving; `sender.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerDomainsAdmin } from './admin-api.ts';
import { registerDomainsApi } from './api.ts';
import { registerDomainAdmin } from './operator-records.ts';
import { createDomainKeysKind } from './rotation/kind.ts';
import { createDomainCheckKind, createDomainSweep } from './worker.ts';

export const domains = {
  name: 'domains',
  ids: ['dom'],
  routes: [registerDomainsApi],
  reach: {
    domain: ['listDomains', 'getDomain', 'updateDomain', 'deleteDomain', 'verifyDomain', 'rotateDomainDkim'],
    none: ['createDomain'],
  },
  operatorRoutes: [registerDomainsAdmin, registerDomainAdmin],
  works: [createDomainSweep],
  tasks: [createDomainCheckKind, createDomainKeysKind],
} satisfies Feature;
