/**
 * Reads a page of the list of emails (specification 4.1). A rare combination of filters is searched in parts on a
 * reader thread, so that other reads run in between.
 */
import type { Db } from '../../db/database.ts';
import { defineRead } from '../../db/operation.ts';
import { type Page, type PageRequest, readPage, type Slice } from '../../db/page.ts';
import type { EmailSummary } from '../show.ts';
import { type EmailSlice, type Filters, readEmailSlice } from './store.ts';

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
