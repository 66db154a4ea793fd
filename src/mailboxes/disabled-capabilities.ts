/** Reads which IMAP capabilities a mailbox is not offered. */

import { readEach } from '../http/json/read-fields.ts';
import { isOptionalCapability } from '../mail/imap/capabilities.ts';
import { invalid } from '../system/errors.ts';

/**
 * Returns the names as they are stored: JSON of a sorted list in upper case, each name once.
 * @throws AppError validation_error
 */
export function readDisabledCapabilities(names: readonly string[]): string {
  const read = readEach(names, (name, index) => {
    const upper = name.toUpperCase();
    if (isOptionalCapability(upper)) return upper;
    const param = `disabledCapabilities[${index}]`;
    throw invalid(param, `\`${param}\` must be an IMAP capability that can be disabled, such as IDLE`);
  });
  return JSON.stringify([...new Set(read)].toSorted());
}
