/**
 * Registers the operator's routes that show and change what waits in the queue. They are served on the control socket alone, never on a
 * network port.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { type Continuation, pageOfFound } from '../../db/continued.ts';
import { continuedQuery } from '../../db/continued-query.ts';
import type { QueueActionRow, QueueVerb } from '../../db/queue-tables.ts';
import { isHostName } from '../../system/dns.ts';
import { AppError, invalid, orNotFound } from '../../system/errors.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import { getTenant } from '../../tenants/store.ts';
import { REPLY_CLASSES } from '../outcome/replies/meaning.ts';
import { listRecipients } from '../store.ts';
import { createAction } from './act.ts';
import type { Censuses } from './census.ts';
import { countNamed } from './find-store.ts';
import { cursorOf, readCursor } from './list-position.ts';
import { listOpen, OPEN_STATES } from './list-store.ts';
import { covers, criteriaOf, EVERYTHING, isEverything, type Selection } from './selection.ts';
import { type ShownAction, showAction, showRecipient } from './show.ts';
import { domainsAt, findSiteOf } from './site-store.ts';
import { GROUPINGS, sumQueues } from './stats.ts';
import { findAction, listActions, listInForce } from './store.ts';
import { continueAction } from './sweep.ts';

type ControlApp = Pick<App, 'db' | 'clock' | 'wakeups'> & { censuses: Censuses };

/** Maximum number of recipients in one answer, and the number without `limit`. */
const MAX_LISTED = 1_000;
const LISTED = 100;
/** Maximum length of a cursor, which has the key of a delivery queue. */
const MAX_CURSOR = 4_000;
/** Number of actions in an answer without `limit`. */
const LISTED_ACTIONS = 50;
/** Number of recipients of a domain from which its last replies are taken. */
const SAMPLED = 1_000;
/** Maximum length of the operator's reason, in characters. */
const MAX_REASON = 500;

const VERBS = [
  'retry',
  'hold',
  'release',
  'fail',
  'cancel',
  'reroute',
] as const satisfies readonly QueueVerb[];

/** An empty criterion is refused: it is a variable of a script that was not set. */
const criterion = Type.Optional(Type.String({ minLength: 1 }));
/** Criteria of a selection (selection.ts). `tenant` is an id or a name; `site` is the key of a site, or one of its hosts. */
const criteria = {
  email: criterion,
  domain: criterion,
  site: criterion,
  tenant: criterion,
  kind: Type.Optional(Type.Enum(['transactional', 'broadcast'])),
  class: Type.Optional(Type.Enum([...REPLY_CLASSES])),
};
const selectionSchema = Type.Object(criteria);
const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LISTED }));
/** `after` is the `next` of another answer, with which the list goes on. */
const listSchema = Type.Object({
  ...criteria,
  state: Type.Optional(Type.Enum([...OPEN_STATES])),
  limit,
  after: Type.Optional(Type.String({ maxLength: MAX_CURSOR })),
});
const actionsSchema = Type.Object(continuedQuery);

/** A page of actions as the control socket answers with it, the newest first. */
export type ShownActions = Continuation & { actions: ShownAction[] };

/** `after` is the `next` of another answer. */
const statsSchema = Type.Object({
  ...criteria,
  ...continuedQuery,
  by: Type.Optional(Type.Enum([...GROUPINGS])),
});
const actionSchema = Type.Object({
  verb: Type.Enum([...VERBS]),
  ...criteria,
  /** Must be true for an action without a criterion, which is about all mail. */
  all: Type.Optional(Type.Boolean()),
  /** A hold whose mail is released, instead of criteria. */
  hold: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_REASON })),
  /** Host or domain for `reroute`; without it, the mail takes the route of its own domain again. */
  target: Type.Optional(Type.String()),
  /** Ends the count of the mail: `matched` is at most one more than it. The action is about all mail that it names. */
  maximum: Type.Optional(Type.Integer({ minimum: 1 })),
});
type Wanted = Static<typeof actionSchema>;

/** Registers the routes under `/queue` on the server of the control socket. */
export function registerQueueControl(server: FastifyInstance, app: ControlApp): void {
  registerReads(server, app);
  server.post<{ Body: Static<typeof actionSchema> }>(
    '/queue/count',
    { schema: { body: actionSchema } },
    async ({ body }) => ({
      matched: await count(app, body, await namedBy(app, body)),
    }),
  );
  server.post<{ Body: Wanted }>('/queue/actions', { schema: { body: actionSchema } }, async ({ body }) =>
    showAction(await makeAction(app, body)),
  );
  server.post<{ Params: { id: string } }>('/queue/actions/:id/continue', async ({ params: { id } }) =>
    showAction(await continueAction(app, id)),
  );
}

function registerReads(server: FastifyInstance, app: ControlApp): void {
  const { db, censuses } = app;
  server.get<{ Querystring: Static<typeof listSchema> }>(
    '/queue/recipients',
    { schema: { querystring: listSchema } },
    async ({ query }) => {
      const { limit = LISTED, state = null } = query;
      const after = query.after === undefined ? undefined : readCursor(query.after);
      const selection = await selectionOf(app, query);
      const { recipients, next } = await db.query(listOpen, { ...selection, state, limit, after });
      return {
        hasMore: next !== undefined,
        next: next ? cursorOf(next) : null,
        recipients: recipients.map(showRecipient),
      };
    },
  );
  server.get<{ Querystring: Static<typeof statsSchema> }>(
    '/queue/stats',
    { schema: { querystring: statsSchema } },
    async ({ query }) => {
      const { by = 'domain', limit = LISTED, after } = query;
      const selection = await selectionOf(app, query);
      return sumQueues(app, await censuses.read(), {
        selection,
        by,
        limit,
        ...(after !== undefined && { after }),
      });
    },
  );
  server.get<{ Params: { id: string } }>('/queue/emails/:id', ({ params: { id } }) => showEmail(app, id));
  server.get<{ Params: { domain: string } }>('/queue/domains/:domain', ({ params: { domain } }) =>
    showDomain(app, domain.toLowerCase()),
  );
  server.get<{ Querystring: Static<typeof actionsSchema> }>(
    '/queue/actions',
    { schema: { querystring: actionsSchema } },
    ({ query: { after, limit = LISTED_ACTIONS } }) => listActionPage(app, after, limit),
  );
}

/** The first page ends with the older actions in force, because mail waits for them. */
async function listActionPage(
  { db }: ControlApp,
  after: string | undefined,
  limit: number,
): Promise<ShownActions> {
  const found = await listActions(db.read, { after, limit: limit + 1 });
  const { items, ...continuation } = pageOfFound(found, limit, ({ id }) => id);
  const inForce = after === undefined ? await listInForce(db.read) : [];
  const others = inForce.filter(({ id }) => !items.some((one) => one.id === id));
  return { ...continuation, actions: [...items, ...others.reverse()].map(showAction) };
}

async function showEmail({ db }: ControlApp, id: string) {
  const recipients = await listRecipients(db.read, id);
  orNotFound(recipients[0], 'Email');
  return {
    emailId: id,
    recipients: recipients.map(showRecipient),
    actions: await coveringAny(db.read, recipients),
  };
}

type Recipients = Awaited<ReturnType<typeof listRecipients>>;

/** Returns the actions in force that name one of the recipients. */
async function coveringAny(tx: App['db']['read'], recipients: Recipients) {
  const found: ReturnType<typeof showAction>[] = [];
  for (const action of await listInForce(tx)) {
    const isAtSite = await domainsAt(tx, action.site);
    if (recipients.some((one) => covers(action, one, isAtSite))) found.push(showAction(action));
  }
  return found;
}

/** The mail for a domain as the control socket answers with it. */
export type ShownDomain = Awaited<ReturnType<typeof showDomain>>;

async function showDomain(app: ControlApp, domain: string) {
  const { db, censuses } = app;
  const selection = { ...EVERYTHING, domain };
  const sums = await sumQueues(app, await censuses.read(), { selection, by: 'tenant', limit: LISTED });
  const { recipients } = await db.query(listOpen, { ...selection, state: null, limit: SAMPLED });
  const replies = new Map<string, number>();
  for (const { diagnostic } of recipients)
    if (diagnostic !== null) replies.set(diagnostic, (replies.get(diagnostic) ?? 0) + 1);
  const mostFrequent = [...replies].sort(([, a], [, b]) => b - a).slice(0, MAX_REPLIES);
  return {
    domain,
    site: (await findSiteOf(db.read, domain)) ?? null,
    ...sums,
    replies: mostFrequent.map(([diagnostic, count]) => ({ diagnostic, recipients: count })),
    actions: await coveringAny(db.read, recipients),
  };
}

/** Maximum number of different replies that are shown of a domain. */
const MAX_REPLIES = 5;

/**
 * Returns the selection that a request names.
 * @throws AppError not_found for a tenant that does not exist
 */
async function selectionOf(
  { db }: ControlApp,
  { email, domain, site, tenant, kind, class: replyClass }: Static<typeof selectionSchema>,
): Promise<Selection> {
  return {
    emailId: email ?? null,
    domain: domain?.toLowerCase() ?? null,
    site: site?.toLowerCase() ?? null,
    tenantId: tenant === undefined ? null : (await getTenant(db.read, tenant)).id,
    kind: kind ?? null,
    class: replyClass ?? null,
  };
}

/**
 * Returns the selection of an action.
 * @throws AppError validation_error when it has no criterion and does not say that it is about all mail
 */
async function namedBy(app: ControlApp, wanted: Wanted): Promise<Selection> {
  if (wanted.hold !== undefined) {
    const hold = orNotFound(await findAction(app.db.read, wanted.hold), 'Hold');
    if (hold.verb !== 'hold' || hold.isInForce === 0)
      throw new AppError('invalid_state', `${hold.id} is not a hold in force`);
    return criteriaOf(hold);
  }
  const selection = await selectionOf(app, wanted);
  if (isEverything(selection) !== (wanted.all ?? false))
    throw invalid('all', '`all` must be true without a criterion, and absent with one');
  return selection;
}

function count(
  { db, clock }: ControlApp,
  { verb, maximum }: Pick<Wanted, 'verb' | 'maximum'>,
  selection: Selection,
): Promise<number> {
  return db.query(countNamed, { ...selection, verb, maximum, createdAt: clock.now() });
}

/** @throws AppError validation_error, not_found; invalid_state when no recipient of the named email can be changed */
async function makeAction(app: ControlApp, wanted: Wanted): Promise<QueueActionRow> {
  const { verb } = wanted;
  const target = readTarget(wanted);
  const selection = await namedBy(app, wanted);
  const matched = await count(app, wanted, selection);
  const now = app.clock.now();
  const reason = wanted.reason === undefined ? null : cleanForeignText(wanted.reason);
  const { emailId } = selection;
  if (emailId !== null && matched === 0) {
    const [first] = await listRecipients(app.db.read, emailId);
    orNotFound(first, 'Email');
    throw new AppError('invalid_state', `No recipient of this email is ${NEEDED[verb]}`);
  }
  return app.db.commit(createAction, { verb, reason, target, matched, selection, now });
}

/** The states that a recipient needs for each verb, in words. */
const NEEDED: Record<QueueVerb, string> = {
  retry: 'waiting for another attempt',
  hold: 'waiting',
  release: 'held',
  fail: 'waiting or held',
  cancel: 'waiting or held',
  reroute: 'waiting or held',
};

function readTarget({ verb, target }: Wanted): string | null {
  if (target === undefined) return null;
  if (verb !== 'reroute') throw invalid('target', '`target` is for `reroute` alone');
  const name = target.toLowerCase();
  if (!isHostName(name)) throw invalid('target', '`target` must be a host name or a domain');
  return name;
}
