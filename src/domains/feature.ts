import type { Feature } from '../feature.ts';
import { registerDomainAdmin } from './admin-api.ts';
import { registerDomainsApi } from './api.ts';
import { moveDueChecks } from './store.ts';
import { createDomainCheckWork, createDomainSweep } from './worker.ts';

export const domains = {
  name: 'domains',
  ids: ['dom'],
  routes: [registerDomainsApi],
  operatorRoutes: [registerDomainAdmin],
  works: [createDomainCheckWork, createDomainSweep],
  dueWorks: [{ move: (db, setBack) => db.commit(moveDueChecks, setBack) }],
} satisfies Feature;
