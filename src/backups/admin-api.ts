/** Registers the routes over which the operator makes backups and releases a restored installation. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import type { Backups } from './backups.ts';
import { findRestoration, releaseRestored } from './release.ts';

/** Without a folder the backup is made in the configured one. */
const query = Type.Object({ folder: Type.Optional(Type.String({ minLength: 1 })) });

type Operating = Pick<App, 'clock' | 'db' | 'egress' | 'log' | 'wakeups'> & { backups: Backups };

/**
 * Registers `POST /backups`, which answers when the backup is complete, `GET /restoration`, and `POST /restoration/release`.
 */
export function registerBackupAdmin(server: FastifyInstance, { backups, ...app }: Operating): void {
  server.get('/restoration', () => findRestoration(app));
  server.post('/restoration/release', () => releaseRestored(app));
  server.post<{ Querystring: Static<typeof query> }>(
    '/backups',
    { schema: { querystring: query } },
    ({ query: { folder } }) => backups.create(folder),
  );
}
