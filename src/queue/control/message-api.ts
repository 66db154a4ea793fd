/**
 * Registers the operator's routes that show the emails of all tenants with every attempt to deliver them, and what was said when one did not
 * deliver. They show envelopes and the replies of servers, never subjects or content, and are served on the control socket alone.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { type Continuation, pageOfFound } from '../../db/continued.ts';
import { continuedQuery } from '../../db/continued-query.ts';
import { addressKey } from '../../mail/address.ts';
import { isoTime } from '../../system/clock.ts';
import { orNotFound } from '../../system/errors.ts';
import { getTenant, listTenants } from '../../tenants/store.ts';
import { readHistory } from '../history.ts';
import { recipientStatus } from '../status.ts';
import { findMessage, listRecipients } from '../store.ts';
import { type ListedMessage, listMessagesOf, listNewestMessages } from './message-store.ts';

/** Number of emails in an answer without `limit`. */
const LISTED = 50;

/** `tenant` is an id or a name; `to` the address of a recipient. */
const listSchema = Type.Object({
  ...continuedQuery,
  tenant: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
});

/** A page of emails as the control socket answers with it, the newest first. */
export type ShownMessages = Continuation & { emails: ShownMessage[] };

export type ShownMessage = ReturnType<typeof showMessage>;
export type MessageDetails = Awaited<ReturnType<typeof describeMessage>>;

/** Registers `GET /emails` and `GET /emails/{id}` on the server of the control socket. */
export function registerMessageAdmin(server: FastifyInstance, { db }: Pick<App, 'db'>): void {
  const { read } = db;
  server.get<{ Querystring: Static<typeof listSchema> }>(
    '/emails',
    { schema: { querystring: listSchema } },
    async ({ query: { tenant, to, after, limit = LISTED } }): Promise<ShownMessages> => {
      const address = to === undefined ? '' : addressKey(to);
      const isOfAll = tenant === undefined && to === undefined;
      const tenants = tenant === undefined ? await listTenants(read) : [await getTenant(read, tenant)];
      const tenantIds = tenants.map(({ id }) => id);
      const part = { after, limit: limit + 1 };
      const found = isOfAll
        ? await listNewestMessages(read, part)
        : await listMessagesOf(read, { ...part, tenantIds, address });
      const { items, ...continuation } = pageOfFound(found, limit, ({ id }) => id);
      return { ...continuation, emails: items.map(showMessage) };
    },
  );
  server.get<{ Params: { id: string } }>('/emails/:id', ({ params: { id } }) => describeMessage(read, id));
}

function showMessage({ id, tenantId, mode, kind, status, sender, createdAt, lastEventAt }: ListedMessage) {
  const times = { createdAt: isoTime(createdAt), lastEventAt: isoTime(lastEventAt) };
  return { id, tenantId, mode, kind, status, sender, ...times };
}

async function describeMessage(tx: App['db']['read'], id: string) {
  const message = orNotFound(await findMessage(tx, id), 'Email');
  const recipients = await listRecipients(tx, id);
  return {
    ...showMessage(message),
    expiresAt: isoTime(message.expiresAt),
    recipients: recipients.map((recipient) => ({
      to: recipient.address,
      status: recipientStatus(recipient),
      attempts: recipient.attempts,
      diagnostic: recipient.diagnostic,
    })),
    ...(await readHistory(tx, { ...message, recipients })),
  };
}
