/** Registers the operator's routes that review suppressions. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { removeSuppressions } from '../../suppressions/change.ts';
import { isoTime } from '../../system/clock.ts';
import { AppError, errorMessage } from '../../system/errors.ts';
import { getTenant } from '../../tenants/store.ts';
import { readReplies, repliesPath } from '../outcome/replies/replies.ts';
import type { ReplyTable } from '../outcome/replies/table.ts';
import { type DoubtfulSuppression, listDoubtful } from './review.ts';

type Operating = Pick<App, 'db' | 'clock' | 'wakeups' | 'config'>;

/** Maximum number of suppressions in one answer, and that are removed at once. */
const MAX_LISTED = 1_000;

/** `tenant` is an id or a name. */
const listQuery = Type.Object({ tenant: Type.Optional(Type.String()) });
/** The request removes all listed suppressions when it names no `id`. */
const removeSchema = Type.Object({
  tenant: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
});

/** Registers `GET /suppressions/review` and `POST /suppressions/review/remove`. */
export function registerSuppressionReview(server: FastifyInstance, app: Operating): void {
  server.get<{ Querystring: Static<typeof listQuery> }>(
    '/suppressions/review',
    { schema: { querystring: listQuery } },
    async ({ query: { tenant } }) => ({
      suppressions: (await findDoubtful(app, tenant)).map(showDoubtful),
    }),
  );
  server.post<{ Body: Static<typeof removeSchema> }>(
    '/suppressions/review/remove',
    { schema: { body: removeSchema } },
    async ({ body: { tenant, id } }) => {
      const listed = await findDoubtful(app, tenant);
      const chosen = listed.filter(({ suppression }) => id === undefined || suppression.id === id);
      if (id !== undefined && chosen.length === 0)
        throw new AppError('not_found', 'The review does not list this suppression');
      for (const { suppression } of chosen) await remove(app, suppression);
      app.wakeups.notify('events');
      return { removed: chosen.length };
    },
  );
}

async function findDoubtful(app: Operating, tenant: string | undefined): Promise<DoubtfulSuppression[]> {
  const tenantId = tenant === undefined ? undefined : (await getTenant(app.db.read, tenant)).id;
  return listDoubtful(app, tableOf(app), { tenantId, limit: MAX_LISTED });
}

/** Returns the table of the file. The daemon may use an earlier one while the file has a mistake, which this error reports. */
function tableOf({ config }: Operating): ReplyTable {
  try {
    return readReplies(repliesPath(config.delivery.repliesFile));
  } catch (error) {
    throw new AppError('invalid_state', errorMessage(error));
  }
}

async function remove(app: Operating, { tenantId, id }: DoubtfulSuppression['suppression']): Promise<void> {
  const cause = { mode: 'live', now: app.clock.now() } as const;
  await app.db.commit(removeSuppressions, { tenantId, keys: [id], cause });
}

/** Returns a suppression in the form that the control socket answers with. */
export function showDoubtful({ suppression, meaning, reason }: DoubtfulSuppression) {
  const { id, tenantId, email, diagnostic, createdAt } = suppression;
  const { class: class_, suppresses, row } = meaning;
  const meant = { class: class_, suppresses, row, reason };
  return { id, tenantId, email, diagnostic, createdAt: isoTime(createdAt), ...meant };
}
