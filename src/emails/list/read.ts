/**
 * Reads a page of the list of emails (specification 4.1). A rare combination of filters is searched in parts on a
 * reader thread, so that other reads run in between.
 */
import type { Db } from '../../db/database.ts';
import { defineRead } from '../../db/operation.ts';
import { type Page, type PageRequest, readPageInParts, type Slice } from '../../db/page.ts';
import { addressKey, parseMailbox } from '../../mail/address.ts';
import { readTagFilter } from '../request/tags.ts';
import type { EmailListQuery } from '../schemas.ts';
import type { EmailSummary } from '../show.ts';
import { type EmailFilter, type Filters, readEmailSlice } from './store.ts';

/** Number of emails that one part examines: about 8 ms of a thread, however long the history is. */
const SCAN = 5_000;

/** Reads one part of a page on a reader thread. */
const readEmails = defineRead(
  'emails.list',
  (tx, { slice, scan, ...filters }: Filters & { slice: Slice; scan: number }) =>
    readEmailSlice(tx, filters, { slice, scan }),
);

/** Returns a page of emails. When `gone` is aborted, it rejects with the reason of the abort before the next part. */
export function listEmails(
  { db, gone, scan = SCAN }: { db: Pick<Db, 'query'>; gone?: AbortSignal; scan?: number },
  filters: Filters,
  page: PageRequest,
): Promise<Page<EmailSummary>> {
  return readPageInParts(page, gone, (slice) => db.query(readEmails, { ...filters, slice, scan }));
}

/**
 * Returns the filters of a query.
 * @throws AppError validation_error for a `tag` without a key and a value
 */
export function readFilter({
  status,
  from,
  to,
  tag,
  messageId,
  recipientStatus,
  apiKeyId,
}: EmailListQuery): EmailFilter {
  return {
    ...(status && { status }),
    ...(from !== undefined && readSender(from)),
    ...(to !== undefined && { to: readAddress(to) }),
    ...(tag !== undefined && { tags: readTagFilter(tag) }),
    ...(messageId !== undefined && { messageId: messageId.trim().replace(/^<|>$/g, '') }),
    ...(recipientStatus && { recipientStatus }),
    ...(apiKeyId !== undefined && { apiKeyId }),
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
