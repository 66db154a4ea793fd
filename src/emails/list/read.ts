/**
 * A page of the list of emails (specification 4.1), looked for in parts on reader threads, so that others have their turn
 * between two of them however seldom the filters meet.
 */
import type { Db } from '../../db/database.ts';
import { defineRead } from '../../db/operation.ts';
import { type Page, type PageRequest, readPage, type Slice } from '../../db/page.ts';
import type { EmailSummary } from '../show.ts';
import { type EmailSlice, type Filters, readEmailSlice } from './store.ts';

/** Emails looked at in one part: some 8 ms of a thread, whatever the history. */
const SCAN = 5_000;

export const readEmails = defineRead(
  'emails.list',
  (tx, { slice, scan, ...filters }: Filters & { slice: Slice; scan: number }) =>
    readEmailSlice(tx, filters, { slice, scan }),
);

/** Ends with the reason of `gone` at its next part. */
export function listEmails(
  { db, gone, scan = SCAN }: { db: Pick<Db, 'query'>; gone?: AbortSignal; scan?: number },
  filters: Filters,
  page: PageRequest,
): Promise<Page<EmailSummary>> {
  return readPage(page, async (whole) => {
    const found: EmailSummary[] = [];
    let rest: Slice | undefined = whole;
    while (rest && found.length < whole.limit) {
      gone?.throwIfAborted();
      const part: EmailSlice = await db.query(readEmails, { ...filters, slice: rest, scan });
      found.push(...part.emails);
      rest = part.rest;
    }
    return found;
  });
}
