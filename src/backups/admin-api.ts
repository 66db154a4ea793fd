/** Registers the routes over which the operator makes backups and releases a restored installation. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { pageOfFound } from '../db/continued.ts';
import { continuedQuery, DEFAULT_ITEMS } from '../db/continued-query.ts';
import type { Backups } from './backups.ts';
import { backupFolder, type FoundBackup, isEncrypted, listOwnBackups } from './format.ts';
import { readLastCopy } from './last-copy.ts';
import { findRestoration, releaseRestored } from './release.ts';

/**
 * `folder` is where the backup is made, by default the configured folder. The answer comes when the backup is complete. With `wait=false` it comes
 * as soon as the backup has begun, and the backup is made in the configured folder, whatever `folder` says.
 */
const query = Type.Object({
  folder: Type.Optional(Type.String({ minLength: 1 })),
  wait: Type.Optional(Type.Boolean({ default: true })),
});
const listQuery = Type.Object(continuedQuery);
/** `maximum` ends the counts of recipients: each is at most one more than it. */
const restorationQuery = Type.Object({ maximum: Type.Optional(Type.Integer({ minimum: 1 })) });
type Named = { Params: { name: string } };

type Operating = Pick<App, 'clock' | 'config' | 'db' | 'egress' | 'log' | 'wakeups'> & { backups: Backups };

/** The backups as the control socket answers with them. */
export type ShownBackups = Awaited<ReturnType<typeof showBackups>>;

/**
 * Registers `GET` and `POST /backups`, `POST /backups/:name/verify`, `GET /restoration`, and `POST /restoration/release`.
 */
export function registerBackupAdmin(server: FastifyInstance, { backups, ...app }: Operating): void {
  server.get<{ Querystring: Static<typeof restorationQuery> }>(
    '/restoration',
    { schema: { querystring: restorationQuery } },
    ({ query: { maximum } }) => findRestoration(app, maximum),
  );
  server.post('/restoration/release', () => releaseRestored(app));
  server.get<{ Querystring: Static<typeof listQuery> }>(
    '/backups',
    { schema: { querystring: listQuery } },
    (request) => showBackups({ ...app, backups }, request.query),
  );
  server.post<{ Querystring: Static<typeof query> }>(
    '/backups',
    { schema: { querystring: query } },
    async ({ query: { folder, wait } }) => {
      if (wait !== false) return backups.create(folder);
      backups.begin();
      return runsOf(backups);
    },
  );
  server.post<Named>('/backups/:name/verify', async ({ params: { name } }) => {
    await backups.verifications.begin(name);
    return runsOf(backups);
  });
}

/** The last backup and the last verification since the daemon has started. */
function runsOf({ lastMade, verifications }: Backups) {
  return { made: lastMade, verified: verifications.last };
}

/** Returns the backups of this installation, the newest first, with when they are made and how the last one has ended. */
async function showBackups(
  { config, backups }: Pick<Operating, 'config' | 'backups'>,
  { after, limit = DEFAULT_ITEMS }: Static<typeof listQuery>,
) {
  const folder = backupFolder(config);
  const { time, keep, recipients } = config.backup;
  const all = (await listOwnBackups(config.dataDir, folder)).reverse();
  const found = after === undefined ? all : all.filter(({ name }) => name < after);
  const { items, ...continuation } = pageOfFound(found.slice(0, limit + 1), limit, ({ name }) => name);
  return {
    folder,
    /** Time of the daily backup in UTC; null without one. */
    time: time === '' ? null : time,
    keep,
    isEncrypted: recipients.length > 0,
    ...runsOf(backups),
    copied: readLastCopy(config.dataDir) ?? null,
    backups: items.map(showBackup),
    ...continuation,
  };
}

function showBackup({ name, path, facts }: FoundBackup) {
  const { version, takenAt, tookMs, files, bytes, mailboxes, damagedMailboxes } = facts;
  const shown = { version, takenAt, tookMs, files, bytes, mailboxes, damagedMailboxes };
  return { name, path, isEncrypted: isEncrypted(facts), ...shown };
}
