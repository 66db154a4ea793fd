/**
 * Reads a page of the list of received messages. A rare combination of filters is searched in parts on a reader thread,
 * so that other reads run in between.
 */
import type { Db } from '../../db/database.ts';
import { defineRead } from '../../db/operation.ts';
import { type Page, type PageRequest, readPageInParts, type Slice } from '../../db/page.ts';
import { addressKey, parseMailbox } from '../../mail/address.ts';
import {
  type ReceivedFilter,
  type ReceivedFilters,
  type ReceivedSummary,
  readReceivedPart,
} from './store.ts';

/** Number of messages that one part examines: some milliseconds of a thread. */
const SCAN = 2_000;

/** Reads one part of a page on a reader thread. */
const readMessages = defineRead(
  'inbound.listMessages',
  (tx, { slice, scan, ...filters }: ReceivedFilters & { slice: Slice; scan: number }) =>
    readReceivedPart(tx, filters, { slice, scan }),
);

/** Returns a page of messages. When `gone` is aborted, it rejects with the reason of the abort before the next part. */
export function listReceived(
  { db, gone, scan = SCAN }: { db: Pick<Db, 'query'>; gone?: AbortSignal; scan?: number },
  filters: ReceivedFilters,
  page: PageRequest,
): Promise<Page<ReceivedSummary>> {
  return readPageInParts(page, gone, (slice) => db.query(readMessages, { ...filters, slice, scan }));
}

export type ReceivedQuery = { address?: string; routeId?: string; from?: string; messageId?: string };

/** Returns the filters of a query. Text that is not an address matches nothing. */
export function readReceivedFilter({ address, routeId, from, messageId }: ReceivedQuery): ReceivedFilter {
  return {
    ...(address !== undefined && { address: keyOf(address) }),
    ...(routeId !== undefined && { routeId }),
    ...(from !== undefined && readAuthor(from)),
    ...(messageId !== undefined && { messageId: messageId.trim().replace(/^<|>$/g, '') }),
  };
}

function readAuthor(text: string): ReceivedFilter {
  return text.includes('@')
    ? { fromAddress: keyOf(text) }
    : { fromDomain: parseMailbox(`a@${text}`)?.domain ?? text };
}

function keyOf(text: string): string {
  return addressKey(parseMailbox(text)?.address ?? text);
}
