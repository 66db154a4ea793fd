/**
 * Registers the operator's routes for domains. They are served on the control socket alone, never on a network port.
 */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { listOperatorRecords, type MoreRecords } from './operator-records.ts';

/** Registers `GET /dns-records` on the server of the control socket. The answer ends with the records of `moreRecords`. */
export function registerDomainAdmin(
  server: FastifyInstance,
  app: Pick<App, 'db' | 'config' | 'dns' | 'sealer' | 'clock'> & { moreRecords: readonly MoreRecords[] },
): void {
  server.get('/dns-records', () => listOperatorRecords(app, app.moreRecords));
}
