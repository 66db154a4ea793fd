/** Builds the rows of mail that the script of a person sends: automatic replies and notifications. */
import type { ComposedMail } from '../../mail/auto-reply.ts';
import type { Id } from '../../system/ids.ts';
import { buildOwnMail, type OwnMail } from '../forward/own-mail.ts';
import type { Author } from './author.ts';
import type { ScriptApp, ScriptedDelivery } from './delivery.ts';

type PersonalMail = { id: Id<'em'>; author: Author; composed: ComposedMail; to: readonly string[] };

/**
 * Returns the rows of a composed message, which has the null sender, so that nothing answers it (RFC 3834 section 3.3). It is signed by
 * the key of its author's domain.
 */
export async function buildPersonalMail(
  app: ScriptApp,
  { mailbox }: Pick<ScriptedDelivery, 'mailbox'>,
  { id, author, composed, to }: PersonalMail,
): Promise<OwnMail> {
  const { id: mailboxId, tenantId } = mailbox;
  const { from, domainId } = author;
  const mail = await buildOwnMail(app, { id, ...composed, to, returnPath: '' });
  return { ...mail, message: { ...mail.message, mailboxId, tenantId, domainId, sender: from.address } };
}
