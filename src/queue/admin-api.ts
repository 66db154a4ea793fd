/**
 * Registers the operator's routes of the queue: held mail, and the addresses for feedback loops. They are served on the control
 * socket alone, never on a network port.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { bounceDomain } from '../domains/records.ts';
import { isoTime } from '../system/clock.ts';
import { AppError, invalid } from '../system/errors.ts';
import { countHeld, type HeldRow, listHeld, listHeldEmails } from './held/store.ts';
import { feedbackLoopLocalPart, isProviderName, returnAddressKeyOf } from './return-path.ts';
import { releaseHeld } from './state/hold.ts';

type Operating = Pick<App, 'db' | 'clock' | 'wakeups' | 'config' | 'sealer'>;

/** Maximum number of held recipients in one answer. */
const MAX_LISTED = 1_000;
/** Number of emails that are released before held mail is listed again. */
const EMAILS_PER_PAGE = 100;

const providerSchema = Type.Object({ provider: Type.String() });

/** The request releases all held mail when it names no `emailId`. */
const releaseSchema = Type.Object({ emailId: Type.Optional(Type.String()) });

/** Registers `GET /held`, `POST /held/release` and `GET /feedback-loops/{provider}` on the server of the control socket. */
export function registerQueueAdmin(server: FastifyInstance, app: Operating): void {
  server.get('/held', async () => ({
    total: await countHeld(app.db.read),
    recipients: (await listHeld(app.db.read, MAX_LISTED)).map(showHeld),
  }));
  server.post<{ Body: Static<typeof releaseSchema> }>(
    '/held/release',
    { schema: { body: releaseSchema } },
    async ({ body: { emailId } }) => {
      const released = emailId === undefined ? await releaseAll(app) : await release(app, emailId);
      app.wakeups.notify('queue');
      app.wakeups.notify('suspects');
      return { released };
    },
  );
  server.get<{ Params: Static<typeof providerSchema> }>(
    '/feedback-loops/:provider',
    { schema: { params: providerSchema } },
    async ({ params: { provider } }) => {
      if (!isProviderName(provider))
        throw invalid('provider', 'The name of a provider has 1 to 20 of a-z, 0-9 and `-`');
      const localPart = feedbackLoopLocalPart(returnAddressKeyOf(app), provider);
      return { address: `${localPart}@${bounceDomain(app.config)}` };
    },
  );
}

/** Returns a held recipient in the form that the control socket answers with. `heldAt` is an ISO 8601 time. */
export function showHeld({ messageId, tenantId, mode, address, attempts, diagnostic, lastEventAt }: HeldRow) {
  const heldAt = isoTime(lastEventAt);
  return { emailId: messageId, tenantId, mode, to: address, attempts, heldAt, diagnostic };
}

function release({ db, clock }: Operating, emailId: string): Promise<number> {
  return db.commit(releaseHeld, { emailId, now: clock.now() });
}

/** Releases each email in its own write, so that other writes are not kept waiting. */
async function releaseAll(app: Operating): Promise<number> {
  let released = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const emailIds: string[] = await listHeldEmails(app.db.read, { after, limit: EMAILS_PER_PAGE });
    for (const emailId of emailIds) released += await releaseIfHeld(app, emailId);
    after = emailIds.at(-1);
  }
  return released;
}

/** Releases one email. It may have been canceled or released since it was listed. */
async function releaseIfHeld(app: Operating, emailId: string): Promise<number> {
  try {
    return await release(app, emailId);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_state') return 0;
    throw error;
  }
}
