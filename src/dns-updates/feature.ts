/** Dynamic updates to the operator's own primary name server; `updates.ts` is the door. */
import type { FastifyInstance } from 'fastify';
import type { Feature } from '../feature.ts';
import { createUpdateWork, type DnsUpdates } from './updates.ts';

export const dnsUpdates = {
  name: 'dns-updates',
  operatorRoutes: [
    (server: FastifyInstance, app: { dnsUpdates: DnsUpdates }) => {
      server.get('/dns-updates', async () => app.dnsUpdates.report);
      server.post('/dns-updates/run', () => app.dnsUpdates.run());
    },
  ],
  works: [createUpdateWork],
} satisfies Feature;
