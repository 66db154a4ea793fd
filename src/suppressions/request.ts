/** What a request says of the address it is about. */
import type { SuppressionRow } from '../db/marketing-tables.ts';
import { addressKey, explainRefusal, parseMailbox } from '../mail/address.ts';
import { invalid } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import type { NewSuppression } from './schemas.ts';

/** How the list knows this address; undefined when it is none. */
export function findAddress(text: string): string | undefined {
  const mailbox = parseMailbox(text);
  return mailbox && addressKey(mailbox.address);
}

/** @throws AppError validation_error naming `param` */
export function readAddress(param: string, text: string): string {
  const address = findAddress(text);
  if (address === undefined) {
    const rule = explainRefusal(text) ?? 'must be one address such as ada@example.com';
    throw invalid(param, `\`${param}\` ${rule}`);
  }
  return address;
}

/** @throws AppError validation_error */
export function newSuppression(
  tenantId: SuppressionRow['tenantId'],
  { email, reason = 'manual' }: NewSuppression,
  now: number,
): SuppressionRow {
  return {
    id: newId('sup', now),
    tenantId,
    email: readAddress('email', email),
    reason,
    sourceEmailId: null,
    diagnostic: null,
    createdAt: now,
  };
}
