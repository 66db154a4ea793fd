/** Registers the route over which the operator makes a backup. It is served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Backups } from './backups.ts';

/** Without a folder the backup is made in the configured one. */
const query = Type.Object({ folder: Type.Optional(Type.String({ minLength: 1 })) });

/** Registers `POST /backups`, which answers when the backup is complete. */
export function registerBackupAdmin(server: FastifyInstance, { backups }: { backups: Backups }): void {
  server.post<{ Querystring: Static<typeof query> }>(
    '/backups',
    { schema: { querystring: query } },
    ({ query: { folder } }) => backups.create(folder),
  );
}
