/** Chooses the address that the mail of a script is from. */
import type { App } from '../../app.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { MessageRow } from '../../db/tables.ts';
import { isLocalDomain, isSandboxDomain } from '../../domains/sender.ts';
import { findDomainByName } from '../../domains/sending-store.ts';
import { maySend } from '../../domains/states.ts';
import { type Mailbox, parseMailbox } from '../../mail/address.ts';
import type { ComposedMail } from '../../mail/auto-reply.ts';
import { mayUseAddress } from '../../mailboxes/sender-addresses.ts';
import type { Id } from '../../system/ids.ts';
import { buildOwnMail, type OwnMail } from '../forward/own-mail.ts';
import type { ScriptApp, ScriptedDelivery } from './delivery.ts';

type PersonalMail = { id: Id<'em'>; author: Author; composed: ComposedMail; to: readonly string[] };

/** An address with the domain whose key signs its mail; null for the sandbox domain, which has no key. */
type Author = { from: Mailbox; domainId: MessageRow['domainId'] };

/**
 * Returns the author of mail to these recipients: the address that the script names, if the owner may use it (RFC 5230 section 4.3), or else
 * that of the mailbox. As for mail that the owner submits, no mail leaves from a domain that the tenant has lost, nor from the sandbox
 * domain: undefined when neither address may write to the recipients.
 */
export async function findAuthor(
  app: App,
  mailbox: MailboxRow,
  { named, to }: { named: string | undefined; to: readonly Mailbox[] },
): Promise<Author | undefined> {
  const chosen = named === undefined ? undefined : parseMailbox(named);
  if (chosen && (await mayUseAddress(app.db.read, mailbox, chosen.address))) {
    const author = await asAuthor(app, mailbox, { from: chosen, to });
    if (author) return author;
  }
  const own = parseMailbox(mailbox.address);
  if (!own) throw new Error('the address of a mailbox is not one');
  const from = { ...own, name: mailbox.displayName ?? undefined };
  return await asAuthor(app, mailbox, { from, to });
}

async function asAuthor(
  { db, clock, config }: App,
  { tenantId }: MailboxRow,
  { from, to }: { from: Mailbox; to: readonly Mailbox[] },
): Promise<Author | undefined> {
  if (isSandboxDomain(config, from.domain))
    return to.every(({ domain }) => isLocalDomain(config, domain)) ? { from, domainId: null } : undefined;
  const domain = await findDomainByName(db.read, tenantId, from.domain);
  return domain && maySend(domain, clock.now()) ? { from, domainId: domain.id } : undefined;
}

/**
 * Returns the rows of a composed message, which has the null sender, so that nothing answers it (RFC 3834 section 3.3). It is signed by
 * the key of its author's domain, and asks for REQUIRETLS like the message that it is about (RFC 8689 section 6).
 */
export async function buildPersonalMail(
  app: ScriptApp,
  { mailbox, message: { requireTls } }: Pick<ScriptedDelivery, 'mailbox' | 'message'>,
  { id, author, composed, to }: PersonalMail,
): Promise<OwnMail> {
  const { id: mailboxId, tenantId } = mailbox;
  const { from, domainId } = author;
  const mail = await buildOwnMail(app, { id, ...composed, to, returnPath: '', requireTls });
  return { ...mail, message: { ...mail.message, mailboxId, tenantId, domainId, sender: from.address } };
}
