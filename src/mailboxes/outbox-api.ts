/** Registers the operator's routes for the mail of a mailbox that waits to be sent. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { RecipientRow } from '../db/tables.ts';
import { cancelSomeUnsent, cancelUnsent } from '../queue/state/cancel-submitted.ts';
import { recipientStatus } from '../queue/status.ts';
import { findMessage, listRecipients } from '../queue/store.ts';
import { showCredential } from '../queue/submitted/credential.ts';
import { listOutbox } from '../queue/submitted/outbox-store.ts';
import { isoTime } from '../system/clock.ts';
import { getNamedMailbox } from './named-mailbox.ts';

/** Maximum number of messages in one answer. */
const MAX_LISTED = 100;

/** The request cancels all waiting mail of the mailbox when it names no `emailId`. */
const cancelSchema = Type.Object({ emailId: Type.Optional(Type.String()) });

/** The id or the address of a mailbox. */
type ByName = { Params: { name: string } };

/** Registers `GET /mailboxes/:name/outbox` and `POST /mailboxes/:name/outbox/cancel`. */
export function registerOutboxAdmin(server: FastifyInstance, app: App): void {
  server.get<ByName>('/mailboxes/:name/outbox', async ({ params }) => {
    const { id: mailboxId } = await getNamedMailbox(app, params.name);
    const { items, hasMore } = await listOutbox(app.db.read, { mailboxId, limit: MAX_LISTED });
    const shown = await Promise.all(items.map((item) => showWaiting(app, item)));
    return { hasMore, emails: shown.flat() };
  });
  server.post<ByName & { Body: Static<typeof cancelSchema> }>(
    '/mailboxes/:name/outbox/cancel',
    { schema: { body: cancelSchema } },
    async ({ params, body: { emailId } }) => {
      const { id: mailboxId } = await getNamedMailbox(app, params.name);
      const now = app.clock.now();
      if (emailId === undefined) return { canceled: await cancelAll(app, mailboxId) };
      await app.db.commit(cancelUnsent, { mailboxId, messageId: emailId, now });
      return { canceled: 1 };
    },
  );
}

/** A waiting message as the control socket answers with it. Its times are ISO 8601. */
export type WaitingEmail = {
  emailId: string;
  from: string;
  createdAt: string;
  /** Time until which its writer holds it; null for a message that was not held. */
  heldUntil: string | null;
  /** `password`, or the id of an app password; null for mail that a script has sent. */
  handedInWith: string | null;
  sizeBytes: number;
  recipients: ReturnType<typeof showRecipient>[];
};

/** Returns the message in a list; an empty one when it has ended since it was listed. */
async function showWaiting(
  { db: { read } }: App,
  { id, sizeBytes, handedInWith }: Awaited<ReturnType<typeof listOutbox>>['items'][number],
): Promise<WaitingEmail[]> {
  const message = await findMessage(read, id);
  if (!message) return [];
  const { createdAt, datedAt, returnPath, sender } = message;
  return [
    {
      emailId: id,
      from: returnPath || sender,
      createdAt: isoTime(createdAt),
      heldUntil: datedAt > createdAt ? isoTime(datedAt) : null,
      handedInWith: handedInWith === null ? null : showCredential(handedInWith),
      sizeBytes,
      recipients: (await listRecipients(read, id)).map(showRecipient),
    },
  ];
}

function showRecipient(recipient: RecipientRow) {
  const { address, state, dueAt, diagnostic } = recipient;
  const isDue = (state === 'ready' || state === 'deferred') && dueAt !== null;
  const nextAttemptAt = isDue ? isoTime(dueAt) : null;
  return { to: address, status: recipientStatus(recipient), nextAttemptAt, diagnostic };
}

/** Cancels in several writes, so that other writes are not kept waiting. */
async function cancelAll({ db, clock }: App, mailboxId: MailboxRow['id']): Promise<number> {
  let canceled = 0;
  let more: number;
  do {
    more = await db.commit(cancelSomeUnsent, { mailboxId, now: clock.now() });
    canceled += more;
  } while (more > 0);
  return canceled;
}
