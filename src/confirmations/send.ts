/** Makes the confirmation mail of a request and sends it as any other transactional email of the tenant. */
import type { App } from '../app.ts';
import { CONFIRM_URL, hasConfirmLink, optInOf } from '../audiences/opt-in/settings.ts';
import { dropRequest } from '../audiences/opt-in/store.ts';
import { mergeValuesOf } from '../broadcasts/merge-values.ts';
import type { AudienceRow, ConfirmationRequestRow, ContactRow } from '../db/marketing-tables.ts';
import { commitStored } from '../emails/commit.ts';
import { type PrepareApp, prepareEmail } from '../emails/prepare.ts';
import { readAddresses } from '../emails/request/addresses.ts';
import type { EmailRequest } from '../emails/request.ts';
import { parseMailbox } from '../mail/address.ts';
import { createPacking } from '../queue/contents/source.ts';
import { DAY_MS } from '../system/clock.ts';
import { AppError, type ErrorCode, errorMessage } from '../system/errors.ts';
import { type Lease, retryTask, type TaskEnd } from '../tasks/store.ts';
import { findTemplate } from '../templates/store.ts';
import { acceptConfirmation, findRecipient } from './accept.ts';
import { defaultMail } from './mail.ts';

/** Time after which a mail that cannot be sent at the moment is tried again, in milliseconds. */
const RETRY_MS = { soon: 60_000, later: 60 * 60_000 };
/** Maximum time for which a mail is tried: a later one would surprise its reader. */
const MAX_AGE_MS = DAY_MS;
/** Refusals that time may end. Any other one drops the mail. */
const PASSING: Partial<Record<ErrorCode, number>> = {
  unavailable: RETRY_MS.soon,
  quota_exceeded: RETRY_MS.later,
  domain_not_verified: RETRY_MS.later,
};

/** Sends the mail of a request, or settles the request otherwise. */
export async function sendConfirmation(
  app: PrepareApp,
  request: ConfirmationRequestRow,
  lease: Lease,
): Promise<TaskEnd> {
  try {
    return (await send(app, request, lease)) ? 'done' : await app.db.commit(dropRequest, lease);
  } catch (error) {
    return settleRefused(app, { request, lease, error });
  }
}

type Refused = { request: ConfirmationRequestRow; lease: Lease; error: unknown };

/**
 * Postpones a request whose mail could not be made, or drops it. An error that is no refusal is a bug: it is logged, and the
 * request is tried again like others.
 */
async function settleRefused(app: PrepareApp, { request, lease, error }: Refused): Promise<TaskEnd> {
  const { tenantId, contactId, requestedAt } = request;
  const isRefusal = error instanceof AppError;
  if (!isRefusal) app.log.error({ tenantId, contactId, err: error }, 'a confirmation mail could not be made');
  const waitMs = isRefusal ? PASSING[error.code] : RETRY_MS.soon;
  const now = app.clock.now();
  if (waitMs !== undefined && now + waitMs < requestedAt + MAX_AGE_MS)
    return app.db.commit(retryTask, { lease, dueAt: now + waitMs });
  app.log.warn({ tenantId, contactId, reason: errorMessage(error) }, 'a confirmation mail was not sent');
  return app.db.commit(dropRequest, lease);
}

/** Sends the mail of a request. Returns false when nobody waits for it any more. */
async function send(app: PrepareApp, request: ConfirmationRequestRow, lease: Lease): Promise<boolean> {
  const recipient = await findRecipient(app.db.read, request);
  const email = recipient && (await emailRequest(app, recipient));
  if (!email) return false;
  const { tenantId, mode, keyDomainId: domainId, askedBy } = request;
  const approval = askedBy && ({ keyId: askedBy, covers: 'broadcasts_and_emails' } as const);
  const holdText = () => () => {};
  const rows = await prepareEmail(
    app,
    { tenantId, mode, keyId: null, domainId, approval },
    { request: email, holdText, pack: createPacking() },
  );
  const { response: isSent } = await commitStored(
    app,
    { write: acceptConfirmation, input: { request, lease, rows } },
    { rows: [rows], acceptedRows: (response) => (response ? [rows] : []), requireValidKey: async () => {} },
  );
  return isSent;
}

type Recipient = { audience: AudienceRow; contact: ContactRow };

async function emailRequest(
  app: PrepareApp,
  { audience, contact }: Recipient,
): Promise<EmailRequest | undefined> {
  const settings = optInOf(audience);
  const from = settings && parseMailbox(settings.from);
  if (!settings || !from) return undefined;
  const now = app.clock.now();
  const { id: contactId, tenantId, audienceId, email } = contact;
  const url = app.links.confirmUrl({ tenantId, audienceId, contactId, address: email, issuedAt: now });
  const { replyTo = null, subject = null, language = 'en' } = settings;
  const template = await findUsableTemplate(app, audience);
  const plain = defaultMail({ language, from, address: email, url });
  const content = template
    ? { subject: subject ?? template.subject, html: undefined, text: undefined, templateId: template.id }
    : { ...plain, subject: subject ?? plain.subject, templateId: undefined };
  return {
    type: 'transactional',
    isUntracked: true,
    addresses: readAddresses({ from: settings.from, to: [email], ...(replyTo !== null && { replyTo }) }),
    content: {
      ...content,
      variables: template ? { ...mergeValuesOf(contact), [CONFIRM_URL]: url } : undefined,
    },
    // Automatic answers to the mail are not wanted (RFC 3834 section 5).
    headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
    attachments: [],
    tags: [],
    schedule: { scheduledAt: null, datedAt: now },
    topicId: undefined,
  };
}

/** Returns the template of an audience while it exists and has the link. Without it, the default mail is sent. */
async function findUsableTemplate({ db }: Pick<App, 'db'>, audience: AudienceRow) {
  const id = optInOf(audience)?.templateId ?? null;
  const template = id === null ? undefined : await findTemplate(db.read, audience.tenantId, id);
  return template && hasConfirmLink(template) ? template : undefined;
}
