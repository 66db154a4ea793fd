/** Finds the email that a request names, and reads its texts within the memory of responses. */
import type { FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { findApproval } from '../approvals/store.ts';
import { listEventsOfEmail } from '../events/store.ts';
import { reserveResponse } from '../http/transport/response-budget.ts';
import { readTexts, type Texts } from '../queue/contents/read.ts';
import { listRecipients } from '../queue/store.ts';
import { dueQueues, type ExplainWaiting, type QueueWaits } from '../queue/waiting.ts';
import { orNotFound } from '../system/errors.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { getEmailHead } from './change.ts';
import type { MessageTexts } from './message-texts.ts';
import { showEmail } from './show.ts';
import { type EmailHead, type EmailWithContent, findEmail } from './store.ts';

export type ShowApp = App & { messageTexts: MessageTexts; explainWaiting: ExplainWaiting };
type ById = FastifyRequest<{ Params: { id: string } }>;

/**
 * Returns the email that the path names. It reserves the memory for the content before the content is read and before
 * anything is changed.
 * @throws AppError not_found, unavailable
 */
export async function findFor(app: Pick<App, 'db'>, request: ById): Promise<EmailHead> {
  const head = await getEmailHead(app, callerOf(request), request.params.id);
  reserveResponse(request, head.contentBytes);
  return head;
}

export async function getEmail(app: Pick<App, 'db'>, { id }: EmailHead): Promise<EmailWithContent> {
  return orNotFound(await findEmail(app.db.read, id), 'Email');
}

/**
 * Returns the HTML and the text of an email. It reserves the memory for a generated text, whose size the stored content
 * does not tell. A change calls it before it is made, because it must not be refused afterwards.
 * @throws AppError not_found, unavailable
 */
export async function getTexts(app: ShowApp, request: ById, head: EmailHead): Promise<Texts> {
  const email = await getEmail(app, head);
  const texts: Texts =
    (await readTexts(app, email)) ?? (await readMessageTexts(app, email)) ?? textsOfRow(email);
  const { html, text, amp, calendar } = texts;
  const parts = [html, text, amp, calendar?.content];
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part ?? ''), 0);
  reserveResponse(request, Math.max(0, bytes - head.contentBytes));
  return texts;
}

/** Emails of the first versions have their texts in their row. */
function textsOfRow({ html, text }: EmailWithContent): Texts {
  return { html, text };
}

/** Returns the texts of an email that was handed over as a message; undefined for any other email. */
async function readMessageTexts(app: ShowApp, email: EmailWithContent): Promise<Texts | undefined> {
  const { tenantId, blobId, contentDeletedAt, html, text } = email;
  // Versions before 0012 have stored the texts beside the message.
  if (blobId === null || contentDeletedAt !== null || html !== null || text !== null) return undefined;
  return app.messageTexts.read({ tenantId, blobId });
}

/** Returns an email as it is now, with texts that were read before. */
export async function show(app: ShowApp, head: EmailHead, texts: Texts) {
  const email = await getEmail(app, head);
  const recipients = await listRecipients(app.db.read, email.id);
  const events = await listEventsOfEmail(app.db.read, email.id);
  const approval = await findApproval(app.db.read, email.id);
  const now = app.clock.now();
  const due = dueQueues(recipients, now);
  const waits: QueueWaits = due.length > 0 ? await app.explainWaiting(due) : new Map();
  return showEmail({ ...email, ...texts }, { recipients, waits, events, approval, now });
}
