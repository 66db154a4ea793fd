/**
 * The write that records opens and clicks. What the requests of one email may occupy on the disk is bounded, because a scanner
 * may fetch a link thousands of times.
 */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { EngagementRow } from '../../db/tracking-tables.ts';
import { DAY_MS } from '../../system/clock.ts';
import { countRequest, findOfEmail, findSimilar, insertEngagement } from './store.ts';

/** A request for the pixel or for a link of an email. The caller has checked its token. */
export type EngagementRequest = Pick<EngagementRow, 'emailId' | 'kind' | 'link'> & {
  /** The link that the reader is sent to, which the event reports; null for an open. */
  url: string | null;
  /** Time of the request in Unix milliseconds. */
  at: number;
  ip: string | null;
  userAgent: string | null;
  method: string;
  isPrefetch: boolean;
};

/** Time from the request to its classification. Other requests of the same client show by then what it is. */
export const CLASSIFICATION_DELAY_MS = 15_000;
/** Maximum numbers of characters of a user agent and of a link that are stored. Longer ones are cut off. */
const MAX_USER_AGENT_CHARACTERS = 512;
const MAX_URL_CHARACTERS = 4_096;
/**
 * Maximum number of rows for each kind and link of an email, and for an email, that are stored without delay. Beyond them
 * one row a day is stored, so that a machine cannot hide the person who follows the link later.
 */
export const MAX_ROWS_PER_LINK = 10;
export const MAX_ROWS_PER_EMAIL = 250;

/**
 * Records requests. A repetition by the same client before the classification is counted on the same row; a request beyond
 * the limits is counted on the newest row.
 */
export const recordEngagements = defineWrite(
  'tracking.record',
  async (tx, requests: readonly EngagementRequest[]): Promise<void> => {
    for (const request of requests) await recordOne(tx, request);
  },
);

async function recordOne(tx: Tx, { method, ...request }: EngagementRequest): Promise<void> {
  const userAgent = request.userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS) || null;
  const url = request.url?.slice(0, MAX_URL_CHARACTERS) ?? null;
  const isHead = method === 'HEAD' ? 1 : 0;
  const isPrefetch = request.isPrefetch ? 1 : 0;
  const similar = await findSimilar(tx, { ...request, userAgent });
  if (similar.unclassifiedId !== null)
    return countRequest(tx, { id: similar.unclassifiedId, isHead, isPrefetch });
  const full = await findFull(tx, request, similar);
  if (full !== undefined) return countRequest(tx, { id: full, isHead: 0, isPrefetch: 0 });
  const dueAt = request.at + CLASSIFICATION_DELAY_MS;
  await insertEngagement(tx, { ...request, url, userAgent, isHead, isPrefetch, dueAt });
}

/** Returns the row that counts the request when a limit is reached, and undefined when the request gets its own row. */
async function findFull(
  tx: Tx,
  { emailId, at }: Pick<EngagementRow, 'emailId' | 'at'>,
  similar: Awaited<ReturnType<typeof findOfEmail>>,
): Promise<EngagementRow['id'] | undefined> {
  if (similar.rows >= MAX_ROWS_PER_LINK && isRecent(similar, at)) return similar.newestId ?? undefined;
  const all = await findOfEmail(tx, emailId);
  return all.rows >= MAX_ROWS_PER_EMAIL && isRecent(all, at) ? (all.newestId ?? undefined) : undefined;
}

function isRecent({ latestAt }: { latestAt: number | null }, at: number): boolean {
  return latestAt !== null && Math.abs(at - latestAt) < DAY_MS;
}
