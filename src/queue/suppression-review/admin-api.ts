/** Registers the operator's routes that review suppressions. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import type { Continuation } from '../../db/continued.ts';
import { continuedQuery } from '../../db/continued-query.ts';
import type { SuppressionRow } from '../../db/marketing-tables.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { addressKey } from '../../mail/address.ts';
import { removeSuppressions } from '../../suppressions/change.ts';
import { hasEvidence } from '../../suppressions/evidence-store.ts';
import { findBounced, listBounced } from '../../suppressions/store.ts';
import { isoTime } from '../../system/clock.ts';
import { AppError, errorMessage } from '../../system/errors.ts';
import { getTenant } from '../../tenants/store.ts';
import { findBounceAttempt } from '../attempts-store.ts';
import { explainReport } from '../outcome/explain.ts';
import { explainNotice } from '../outcome/notice.ts';
import type { Report } from '../outcome/outcome.ts';
import type { Meaning } from '../outcome/replies/meaning.ts';
import { readReplies, repliesPath } from '../outcome/replies/replies.ts';
import type { ReplyTable } from '../outcome/replies/table.ts';
import { listRecipients } from '../store.ts';

/** `row`: the row that the reply meets would not suppress. `evidence`: it would after repetition, of which nothing is stored. */
type DoubtfulSuppression = {
  suppression: SuppressionRow;
  meaning: Meaning;
  reason: 'row' | 'evidence';
};

/** Number of suppressions that are read at once. */
const PAGE = 200;

/** Matches the descriptions of own facts that suppress (dispatch/route.ts). */
const OWN_FACT = /\((?:NXDOMAIN|null MX)\)$/;

type Operating = Pick<App, 'db' | 'clock' | 'config'>;

/** Maximum number of suppressions in one answer, and that are removed at once. */
const MAX_LISTED = 1_000;
/** Maximum number of suppressions that a request can let be examined. Each takes some reads. */
const MAX_EXAMINED = 1_000_000;

/** `tenant` is an id or a name, and `after` the `next` of another answer. `examine` limits the suppressions that are examined, doubtful or not. */
const listQuery = Type.Object({
  ...continuedQuery,
  tenant: Type.Optional(Type.String()),
  examine: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_EXAMINED })),
});
/** The request removes all listed suppressions when it names neither `id` nor `ids`. Those of `ids` that are not listed any more stay. */
const removeSchema = Type.Object({
  tenant: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
  ids: Type.Optional(Type.Array(Type.String(), { maxItems: MAX_LISTED })),
});

/** Doubtful suppressions as the control socket answers with them. */
export type SuppressionReview = Continuation & { suppressions: ReturnType<typeof showDoubtful>[] };

/** Registers `GET /suppressions/review` and `POST /suppressions/review/remove`. */
export function registerSuppressionReview(server: FastifyInstance, app: Operating): void {
  server.get<{ Querystring: Static<typeof listQuery> }>(
    '/suppressions/review',
    { schema: { querystring: listQuery } },
    async ({ query: { tenant, after, limit = MAX_LISTED, examine = MAX_EXAMINED } }) => {
      const tenantId = await tenantOf(app, tenant);
      const { doubtful, next } = await listDoubtful(app, tableOf(app), { tenantId, after, limit, examine });
      return { suppressions: doubtful.map(showDoubtful), hasMore: next !== null, next };
    },
  );
  server.post<{ Body: Static<typeof removeSchema> }>(
    '/suppressions/review/remove',
    { schema: { body: removeSchema } },
    async ({ body: { tenant, id, ids = id === undefined ? undefined : [id] } }) => {
      const chosen = await findDoubtful(app, await tenantOf(app, tenant), ids);
      if (id !== undefined && chosen.length === 0)
        throw new AppError('not_found', 'The review does not list this suppression');
      for (const { suppression } of chosen) await remove(app, suppression);
      return { removed: chosen.length };
    },
  );
}

async function tenantOf({ db }: Operating, tenant: string | undefined) {
  return tenant === undefined ? undefined : (await getTenant(db.read, tenant)).id;
}

/** Returns the doubtful ones of the suppressions with these ids, or without ids as many as are listed at once. */
async function findDoubtful(
  app: Operating,
  tenantId: SuppressionRow['tenantId'] | undefined,
  ids: readonly string[] | undefined,
): Promise<DoubtfulSuppression[]> {
  const table = tableOf(app);
  if (ids === undefined) {
    const all = { tenantId, after: undefined, limit: MAX_LISTED, examine: MAX_EXAMINED };
    return (await listDoubtful(app, table, all)).doubtful;
  }
  const named = await findBounced(app.db.read, { tenantId, ids });
  const found: DoubtfulSuppression[] = [];
  for (const suppression of named) found.push(...(await doubt(app.db, table, suppression)));
  return found;
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
function showDoubtful({ suppression, meaning, reason }: DoubtfulSuppression) {
  const { id, tenantId, email, diagnostic, createdAt } = suppression;
  const { class: class_, suppresses, row } = meaning;
  const meant = { class: class_, suppresses, row, reason };
  return { id, tenantId, email, diagnostic, createdAt: isoTime(createdAt), ...meant };
}

/** A part of the list, behind `after`: at most `limit` doubtful ones among at most `examine` suppressions. */
type Part = {
  tenantId: SuppressionRow['tenantId'] | undefined;
  after: string | undefined;
  limit: number;
  examine: number;
};

/**
 * Returns doubtful suppressions of all tenants or of one, the oldest first, and the place behind which others may be. Such a suppression would
 * not be made now: the reply table says something else about the reply, or the bounces that together suppressed are
 * no longer stored.
 */
async function listDoubtful(
  { db }: Pick<App, 'db'>,
  table: ReplyTable,
  { tenantId, after, limit, examine }: Part,
): Promise<{ doubtful: DoubtfulSuppression[]; next: string | null }> {
  const doubtful: DoubtfulSuppression[] = [];
  let [place, left] = [after, examine];
  while (doubtful.length < limit && left > 0) {
    const size = Math.min(PAGE, left);
    const page = await listBounced(db.read, { tenantId, after: place, limit: size });
    for (const suppression of page) {
      if (doubtful.length === limit) break;
      doubtful.push(...(await doubt(db, table, suppression)));
      place = suppression.id;
    }
    if (page.length < size && place === (page.at(-1)?.id ?? place)) return { doubtful, next: null };
    left -= size;
  }
  return { doubtful, next: place ?? null };
}

/** Returns the suppression with what speaks against it; nothing for one that would be made now too. */
async function doubt(
  db: App['db'],
  table: ReplyTable,
  suppression: SuppressionRow,
): Promise<DoubtfulSuppression[]> {
  const meaning = await explainSuppression(db, table, suppression);
  if (meaning === undefined || meaning.suppresses === 'now') return [];
  if (meaning.suppresses === 'never') return [{ suppression, meaning, reason: 'row' }];
  const { tenantId, email: address } = suppression;
  if (await hasEvidence(db.read, { tenantId, address })) return [];
  return [{ suppression, meaning, reason: 'evidence' }];
}

/** Returns what the bounce means now; undefined when an own fact suppressed the address. */
async function explainSuppression(
  db: App['db'],
  table: ReplyTable,
  { email, sourceEmailId, diagnostic }: SuppressionRow,
): Promise<Meaning | undefined> {
  if (OWN_FACT.test(diagnostic ?? '')) return undefined;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const recipients = sourceEmailId === null ? [] : await listRecipients(db.read, sourceEmailId);
  const recipient = recipients.find(({ address }) => addressKey(address) === email);
  const attempt = recipient && (await findBounceAttempt(db.read, recipient.id));
  if (!attempt) return explainNotice(table, noticeOf(recipient, diagnostic), domain).meaning;
  const { phase, mx, address, tls, smtpCode, enhancedCode, reply } = attempt;
  if (phase === 'dns') return undefined;
  const report = { phase, mx, address, tls, smtpCode, enhancedCode, text: reply ?? '' } as Report;
  return explainReport(table, report, domain);
}

/** A bounce that came by mail has no attempt, and the attempts of old mail are deleted: only the reply is left. */
function noticeOf(recipient: RecipientRow | undefined, diagnosticCode: string | null) {
  return {
    form: 'structured',
    action: 'failed',
    status: recipient?.enhancedCode ?? null,
    diagnosticCode,
    explanation: null,
    finalRecipient: null,
    originalRecipient: null,
    remoteMta: null,
    willRetryUntil: null,
  } as const;
}
