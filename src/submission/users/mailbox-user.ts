/**
 * The owner of a mailbox, who writes as one person. The message is not an email of the API: it is kept only until it has reached its
 * recipients.
 */

import { DISCONNECTED_TEXT } from '../../accounts/mail-session.ts';
import type { App } from '../../app.ts';
import { memoryOf } from '../../blobs/blobs.ts';
import { discardOnRefusal } from '../../blobs/discard-on-refusal.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { MessageRow } from '../../db/tables.ts';
import { isLocalDomain, isSandboxDomain } from '../../domains/sender.ts';
import { logAccepted } from '../../events/mail-log.ts';
import { RefusedMessage } from '../../mail/smtp/refused-message.ts';
import type { Reply } from '../../mail/smtp/server/session.ts';
import { type Login, type LoginMark, markOf, sessionCredential } from '../../mailboxes/credential.ts';
import { queueKeyOf } from '../../queue/queue-key.ts';
import { markOfPassword } from '../../queue/submitted/credential.ts';
import { isoTime } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import { acceptSubmitted } from '../accept.ts';
import { buildMessage } from '../email.ts';
import { hashCorrespondent, RecipientCheck } from '../limits/limits.ts';
import { LOGIN_HAS_ENDED, notAuthorized, refuseSuppressed } from '../refusals.ts';
import { firstCheckOf } from '../reports/plan.ts';
import type { SenderApp } from '../submission-app.ts';
import { type Submission, senderDomainsOf, type User } from '../user.ts';

/** Ends a session that the owner wants to end. */
const DISCONNECTED: Reply = { code: 421, status: '4.7.0', text: DISCONNECTED_TEXT };

/** Returns the owner of a mailbox, who has logged in from this IP address. */
export function createMailboxUser(app: SenderApp, login: Login, address: string): User {
  const { mailbox, credential } = login;
  const { id: mailboxId, tenantId } = mailbox;
  const { id: credentialId, expiresAt } = sessionCredential(credential);
  const handedInWith = credential.kind === 'password' ? markOfPassword(mailbox) : credential.row.id;
  const mark = markOf(login);
  let check = new RecipientCheck(app, mailbox);

  return {
    tenantId,
    id: mailboxId,
    listed: {
      session: { protocol: 'smtp', address, credential: credentialId },
      disconnected: DISCONNECTED,
    },
    hasNotifications: true,
    logFields: { mailboxId },
    expiresAt,
    findEnd: () => findEnd(app, mailbox, mark),
    async beginMessage() {
      check = new RecipientCheck(app, mailbox);
      return (await findEnd(app, mailbox, mark)) ?? (await refuseSuspended(app, tenantId));
    },
    async refuseSender({ address, domain }) {
      if (!(await app.knownSenders.mayUseAddress(mailbox, address)))
        return notAuthorized(`<${address}> is not an address of the mailbox ${mailbox.address}`);
      // The mailbox keeps its addresses at a domain that its tenant has lost.
      await getDomainId(app, { tenantId, domain });
      return undefined;
    },
    async refuseRecipient({ address }) {
      const refusal = await refuseSuppressed(app, tenantId, address);
      if (refusal) return refusal;
      await check.add(address);
      return undefined;
    },
    async accept(submission) {
      const { blob, once } = submission;
      const { row: message, acceptedId } = await discardOnRefusal(app.blobs, [blob], async () => {
        const row = await buildOwnMessage(app, mailbox, submission);
        const recipients = submission.recipients.map(({ address, domain, dsn }) => ({
          field: 'to' as const,
          suppressed: null,
          address,
          domain,
          dsn,
        }));
        const ended = await findEnd(app, mailbox, mark);
        if (ended) {
          await app.blobs.discard(blob);
          throw new RefusedMessage(ended);
        }
        const { recipientsPerDay, newRecipientsPerDay, recipientsPerDayOfTenant } = app.config.submission;
        const limits = { recipientsPerDay, newRecipientsPerDay, recipientsPerDayOfTenant };
        const addressHashes = recipients.map(({ address }) => hashCorrespondent(app, mailboxId, address));
        const counted = { id: mailboxId, address: mailbox.address, tenantId };
        const firstCheckAt = firstCheckOf(row);
        const id = await app.db.commit(
          acceptSubmitted,
          {
            blob,
            message: row,
            mailbox: counted,
            handedInWith,
            recipients,
            addressHashes,
            limits,
            firstCheckAt,
            once,
          },
          memoryOf(blob),
        );
        return { row, acceptedId: id };
      });
      if (acceptedId === message.id) announce(app, message, submission);
      // The message was accepted before, and needs no bytes of this one.
      else await app.blobs.discard(blob);
      return acceptedId;
    },
  };
}

/**
 * Returns the id of a domain that the tenant may send from; null for the sandbox domain, which all tenants share.
 * @throws AppError domain_not_verified
 */
async function getDomainId(
  app: Pick<SenderApp, 'config' | 'knownSenders'>,
  { tenantId, domain }: Pick<MailboxRow, 'tenantId' | 'domain'>,
): Promise<MessageRow['domainId']> {
  return isSandboxDomain(app.config, domain) ? null : app.knownSenders.getDomainId(tenantId, domain);
}

/**
 * Checks that mail from the sandbox domain, which has no key, goes to nobody elsewhere. Each address that it is from counts: the world
 * would take any of them for one of this installation.
 * @throws AppError domain_not_verified
 */
function requireLocalRecipients(app: Pick<App, 'config'>, submission: Submission): void {
  const sandbox = [...senderDomainsOf(submission)].find((domain) => isSandboxDomain(app.config, domain));
  const recipient = submission.recipients.find(({ domain }) => !isLocalDomain(app.config, domain));
  if (sandbox === undefined || recipient === undefined) return;
  throw new AppError(
    'domain_not_verified',
    `<${recipient.address}>: addresses of ${sandbox} write only to each other; use a verified domain`,
  );
}

/** The owner of a mailbox of a suspended tenant reads mail as before, and sends none. */
async function refuseSuspended(
  { knownSenders }: Pick<SenderApp, 'knownSenders'>,
  tenantId: MailboxRow['tenantId'],
): Promise<Reply | undefined> {
  if (!(await knownSenders.isSuspended(tenantId))) return undefined;
  return notAuthorized('the operator of this server has suspended your account, which sends no mail');
}

/**
 * Returns undefined while the login stands, and a refusal otherwise: a session can last longer than its password.
 * @throws AppError unavailable while the mailbox waits for its repair
 */
async function findEnd(
  { knownSenders }: Pick<SenderApp, 'knownSenders'>,
  mailbox: MailboxRow,
  mark: LoginMark,
): Promise<typeof LOGIN_HAS_ENDED | undefined> {
  const refused = await knownSenders.findLoginEnd(mailbox, mark);
  if (refused === 'damaged')
    throw new AppError('unavailable', 'The mailbox is damaged and waits for its repair; try again later');
  return refused && LOGIN_HAS_ENDED;
}

/**
 * Returns the row of the message.
 * @throws AppError domain_not_verified
 */
async function buildOwnMessage(
  app: SenderApp,
  mailbox: MailboxRow,
  submission: Submission,
): Promise<MessageRow> {
  const { header, envelope } = submission;
  const { id: mailboxId, tenantId } = mailbox;
  requireLocalRecipients(app, submission);
  const domainId = await getDomainId(app, { tenantId, domain: header.from.domain });
  return {
    ...buildMessage(app, submission, { tenantId, mode: 'live', domainId }),
    returnPath: envelope.address,
    mailboxId,
    dsn: envelope.dsn ?? null,
  };
}

/** Wakes the queue and writes the line of the mail log. */
function announce(app: SenderApp, message: MessageRow, { recipients, blob }: Submission): void {
  const { id: emailId, tenantId, mode, sender: from, datedAt, createdAt } = message;
  const isScheduled = datedAt > createdAt;
  const queues = recipients.map(({ domain }) => queueKeyOf(message, domain));
  app.wakeups.notify('queue', isScheduled ? undefined : [...new Set(queues)]);
  const scheduledAt = isScheduled ? isoTime(datedAt) : null;
  const size = { recipients: recipients.length, sizeBytes: blob.sizeBytes };
  logAccepted(app, { emailId, tenantId, mode, from, ...size, scheduledAt });
}
