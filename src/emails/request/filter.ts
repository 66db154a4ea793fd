/** What a list of emails is asked for, in the form its query takes. */
import { addressKey, parseMailbox } from '../../mail/address.ts';
import type { EmailFilter } from '../list/store.ts';
import type { EmailListQuery } from '../schemas.ts';
import { readTagFilter } from './tags.ts';

/** @throws AppError validation_error for a `tag` that is none */
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

/** As addresses are kept: bare, without case, the domain in A-labels. What is no address equals none. */
function readAddress(text: string): string {
  return addressKey(parseMailbox(text)?.address ?? text);
}

function readDomain(text: string): string {
  return parseMailbox(`a@${text}`)?.domain ?? text;
}
