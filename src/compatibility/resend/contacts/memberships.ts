/** Adds contacts to segments, takes them out, and lists the segments of a contact. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import type { Calls } from '../../../http/json/calls.ts';
import type { Access, Asked, Given } from '../call.ts';
import { type Page, showPage } from '../lists.ts';
import { asProperties } from './fields.ts';
import { askOne, getContact } from './place.ts';
import { makeRoom } from './room.ts';
import {
  getSegment,
  isMembership,
  membershipOf,
  requireMembership,
  type ShownSegment,
  showSegmentItem,
} from './segments.ts';

/** Number of segments that are read at once. */
const PAGE_SIZE = 100;

/**
 * Returns the request that adds a contact to a segment, or takes it out.
 * @throws AppError not_found; invalid_state for a segment whose contacts follow from a filter
 */
export async function askMembership(given: Given, access: Access, isMember: boolean): Promise<Asked> {
  const { id = '', segmentId = '' } = given.params;
  const segment = await getSegment(segmentId, access.calls());
  const properties = asProperties([requireMembership(segment)], isMember);
  const params = { audienceId: segment.audienceId, id };
  if (isMember) await makeRoom(params, properties, access);
  return { params, body: { properties } };
}

/** Returns that a contact is in a segment, or was. */
export function showMembership({ id }: ShownContact, { params: { segmentId } }: Given) {
  return { object: 'contact_segment', id: segmentId, contact_id: id, segment_id: segmentId };
}

/** Lists the segments that a contact was added to. Those that it is in by their filters are not among them. */
export async function listSegmentsOf(given: Given, calls: Calls, access: Access) {
  const { params } = await askOne(given, access);
  const data = await segmentsOf(await getContact(params, calls), params.audienceId, calls);
  return showPage(showSegmentItem)({ data, hasMore: false });
}

/** Returns the segments that a contact of an audience was added to. */
export async function segmentsOf(
  { properties }: ShownContact,
  audienceId: string,
  calls: Calls,
): Promise<ShownSegment[]> {
  const memberships = Object.keys(properties).filter(isMembership);
  const segments = memberships.length === 0 ? [] : await listSegments(audienceId, calls);
  return segments.filter((segment) => memberships.includes(membershipOf(segment) ?? ''));
}

/** Returns all segments of an audience, of which a tenant has at most a thousand. */
async function listSegments(audienceId: string, calls: Calls): Promise<ShownSegment[]> {
  const segments: ShownSegment[] = [];
  for (;;) {
    const query = { audienceId, limit: PAGE_SIZE, startingAfter: segments.at(-1)?.id };
    const { data, hasMore } = await calls.get<Page<ShownSegment>>('/segments', query);
    segments.push(...data);
    if (!hasMore) return segments;
  }
}
