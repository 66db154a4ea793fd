/** The refusals of messages and of their recipients. */
import type { App } from '../app.ts';
import type { SuppressionRow } from '../db/marketing-tables.ts';
import { addressKey } from '../mail/address.ts';
import type { Reply } from '../mail/smtp/server/session.ts';
import { findSuppression } from '../suppressions/store.ts';

/**
 * The refusal of a login that does not stand any more: its password or key has changed, or the mailbox was suspended. The client logs in
 * again on another connection, because AUTH works once on each, and keeps the message, which a permanent reply would have it return.
 */
export const LOGIN_HAS_ENDED = {
  code: 421,
  status: '4.7.0',
  text: 'The login does not stand any more; connect and log in again',
} as const satisfies Reply;

/** X.7.1 is a sender that is not authorized (RFC 3463 section 3.8). */
export function notAuthorized(text: string): Reply & { text: string } {
  return { code: 550, status: '5.7.1', text };
}

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
