/** Refuses recipients whose addresses are suppressed. The reply says why. */
import type { App } from '../app.ts';
import type { SuppressionRow } from '../db/marketing-tables.ts';
import { addressKey } from '../mail/address.ts';
import type { Reply } from '../mail/smtp/server/session.ts';
import { findSuppression } from '../suppressions/store.ts';
import { notAuthorized } from './refused-message.ts';

const REASONS: Readonly<Record<SuppressionRow['reason'], string>> = {
  bounce: 'mail to this address has bounced',
  complaint: 'the reader has complained about mail',
  manual: 'the address was added to the suppression list',
  unsubscribe: 'the reader has unsubscribed',
};

/** Returns the refusal of an address that is on the suppression list of the tenant; undefined for any other. */
export async function refuseSuppressed(
  { db }: Pick<App, 'db'>,
  tenantId: SuppressionRow['tenantId'],
  address: string,
): Promise<Reply | undefined> {
  const suppression = await findSuppression(db.read, tenantId, addressKey(address));
  return suppression && notAuthorized(`<${address}> is suppressed: ${REASONS[suppression.reason]}`);
}
