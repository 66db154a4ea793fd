/** Builds the rows of mail that the script of a person sends: automatic replies and notifications. */
import { findDomainByName } from '../../../domains/sending/store.ts';
import { maySend } from '../../../domains/states.ts';
import type { ComposedMail } from '../../../mail/auto-reply/compose.ts';
import type { Id } from '../../../system/ids.ts';
import { buildOwnMail, type OwnMail } from '../../forward/own-mail.ts';
import type { ScriptApp, ScriptedDelivery } from './delivery.ts';

/**
 * Returns the rows of a composed message, which has the null sender, so that nothing answers it (RFC 3834 section 3.3). It is signed by
 * the key of the mailbox's domain.
 */
export async function buildPersonalMail(
  app: ScriptApp,
  { mailbox }: Pick<ScriptedDelivery, 'mailbox'>,
  { id, composed, to }: { id: Id<'em'>; composed: ComposedMail; to: readonly string[] },
): Promise<OwnMail> {
  const { id: mailboxId, tenantId, address: sender } = mailbox;
  const domain = await findDomainByName(app.db.read, tenantId, mailbox.domain);
  const domainId = domain && maySend(domain, app.clock.now()) ? domain.id : null;
  const mail = await buildOwnMail(app, { id, ...composed, to, returnPath: '' });
  return { ...mail, message: { ...mail.message, mailboxId, tenantId, domainId, sender } };
}
