/** The password of an import, which is sealed while the import has not ended. */
import type { App } from '../app.ts';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';

type SealedFor = Pick<MailboxImportRow, 'tenantId' | 'id'>;

/** Returns a password as it is stored. */
export function sealPassword(
  { sealer }: Pick<App, 'sealer'>,
  { tenantId, id }: SealedFor,
  text: string,
): string {
  return sealer.seal(text, [tenantId, id]);
}

/** Returns the password of an import that has not ended. */
export function openPassword(
  { sealer }: Pick<App, 'sealer'>,
  { tenantId, id, password }: SealedFor & Pick<MailboxImportRow, 'password'>,
): string {
  if (password === null) throw new Error('an import that has ended has no password');
  return sealer.open(password, [tenantId, id]);
}
