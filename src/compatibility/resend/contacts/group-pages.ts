/** Pages of the contacts of a group. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import { type Calls, path, type Query } from '../../../http/json/calls.ts';
import type { Given } from '../call.ts';
import { askPage, type Page, showPage } from '../lists.ts';
import { showContactItem } from './fields.ts';
import type { Group } from './segments.ts';

/** Number of contacts on a page for which a request names none, as at Resend. */
const DEFAULT_LIMIT = 20;
/**
 * Maximum number of requests for one page. Each scans up to 100,000 contacts of the audience, because pages of segments are short when few
 * contacts match, and a client of Resend continues after the last contact that it has seen.
 */
const MAX_SCANS = 50;

type Cursors = { nextCursor: string | null; previousCursor: string | null };

/** Lists the contacts of a group, the newest first. */
export async function listGroup({ audienceId, segment }: Group, given: Given, calls: Calls) {
  const query = askPage(given).query as Query;
  const page = segment
    ? await readFullPage(path`/segments/${segment.id}/contacts`, query, calls)
    : await calls.get<Page<ShownContact>>(path`/audiences/${audienceId}/contacts`, query);
  return showPage(showContactItem)(page);
}

/** Reads pages of a segment until there are as many contacts as were asked for, or no more. */
async function readFullPage(list: string, asked: Query, calls: Calls): Promise<Page<ShownContact>> {
  const wanted = Number(asked['limit'] ?? DEFAULT_LIMIT);
  const isBackwards = asked['endingBefore'] !== undefined;
  const found: ShownContact[] = [];
  let query = asked;
  for (let scans = 1; ; scans++) {
    const page = await calls.get<Page<ShownContact> & Cursors>(list, query);
    if (isBackwards) found.unshift(...page.data);
    else found.push(...page.data);
    const { hasMore } = page;
    if (!hasMore || found.length >= wanted || scans >= MAX_SCANS) return { data: found, hasMore };
    const cursor = isBackwards
      ? { endingBefore: page.previousCursor ?? '' }
      : { startingAfter: page.nextCursor ?? '' };
    query = { ...asked, ...cursor, limit: wanted - found.length };
  }
}
