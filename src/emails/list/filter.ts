/** Reads the filters of the list of emails from its query. */
import { addressKey, parseMailbox } from '../../mail/address.ts';
import { readTagFilter } from '../request/tags.ts';
import type { EmailListQuery } from '../schemas.ts';
import type { EmailFilter } from './store.ts';

/**
 * Returns the filters of a query.
 * @throws AppError validation_error for a `tag` without a key and a value
 */
export function readFilter({ status, from, to, tag, recipientStatus }: EmailListQuery): EmailFilter {
  return {
    ...(status && { status }),
    ...(from !== undefined && readSender(from)),
    ...(to !== undefined && { to: readAddress(to) }),
    ...(tag !== undefined && { tags: readTagFilter(tag) }),
    ...(recipientStatus && { recipientStatus }),
  };
}

function readSender(text: string): Pick<EmailFilter, 'fromAddress' | 'fromDomain'> {
  return text.includes('@') ? { fromAddress: readAddress(text) } : { fromDomain: readDomain(text) };
}

/**
 * Returns the address in its stored form: without a display name, in lower case, the domain in A-labels. Text that is
 * not an address is returned unchanged and matches nothing.
 */
function readAddress(text: string): string {
  return addressKey(parseMailbox(text)?.address ?? text);
}

function readDomain(text: string): string {
  return parseMailbox(`a@${text}`)?.domain ?? text;
}
