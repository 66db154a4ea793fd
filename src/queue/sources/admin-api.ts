/** Registers the operator's routes of the sources. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../../app.ts';
import { listSources } from './list.ts';

/** Registers `GET /sources` on the server of the control socket. */
export function registerSources(server: FastifyInstance, app: Pick<App, 'config' | 'db'>): void {
  server.get('/sources', async () => ({ sources: await listSources(app) }));
}
