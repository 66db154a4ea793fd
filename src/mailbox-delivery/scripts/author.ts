/** Chooses the address that the mail of a script is from. */
import type { App } from '../../app.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { MessageRow } from '../../db/tables.ts';
import { isLocalDomain, isSandboxDomain } from '../../domains/sender.ts';
import { findDomainByName } from '../../domains/sending-store.ts';
import { maySend } from '../../domains/states.ts';
import { type Mailbox, parseMailbox } from '../../mail/address.ts';
import { mayUseAddress } from '../../mailboxes/sender-addresses.ts';

/** An address with the domain whose key signs its mail; null for the sandbox domain, which has no key. */
export type Author = { from: Mailbox; domainId: MessageRow['domainId'] };

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
