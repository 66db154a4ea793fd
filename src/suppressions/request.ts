/** Reads the addresses that a request names. */
import type { SuppressionRow } from '../db/marketing-tables.ts';
import { addressKey, explainRefusal, parseMailbox } from '../mail/address.ts';
import { invalid, notFound } from '../system/errors.ts';
import { isId, newId } from '../system/ids.ts';
import type { NewSuppression } from './schemas.ts';

/** Returns the stored form of an address; undefined for text that is not an address. */
export function findAddress(text: string): string | undefined {
  const mailbox = parseMailbox(text);
  return mailbox && addressKey(mailbox.address);
}

/**
 * Returns the stored form of an address.
 * @throws AppError validation_error naming `param`
 */
export function readAddress(param: string, text: string): string {
  const address = findAddress(text);
  if (address === undefined) {
    const rule = explainRefusal(text) ?? 'must be one address such as ada@example.com';
    throw invalid(param, `\`${param}\` ${rule}`);
  }
  return address;
}

/**
 * Returns the row of a new suppression.
 * @throws AppError validation_error
 */
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

/**
 * Returns the id or the address in lower case.
 * @throws AppError not_found when the text is neither an id nor an address
 */
export function readKey(text: string): string {
  const key = isId('sup', text) ? text : findAddress(text);
  if (key === undefined) throw notFound('Suppression');
  return key;
}
