/** Translates a new contact, and the segments that it is added to. */
import type { Filter } from '../../../audiences/segments/filter.ts';
import { findSegment } from '../../../audiences/segments/store.ts';
import { invalid } from '../../../system/errors.ts';
import { callerOf } from '../../../tenants/authenticate.ts';
import type { Access, Asked, Given } from '../call.ts';
import { fieldsOf, isFields } from '../fields.ts';
import { ensureContactsAudience } from './audience.ts';
import { newContactFrom } from './fields.ts';
import { makeRoom } from './room.ts';
import { getGroup, requireMembership, type ShownSegment } from './segments.ts';

/** Maximum number of segments to which a contact is added when it is made: each is looked up. Our own limit. */
const MAX_SEGMENTS = 50;

type JoinedSegment = Pick<ShownSegment, 'name' | 'audienceId' | 'filter'>;

/** An address that a contact has already updates that contact, as at Resend. It stays unsubscribed if it is. */
export async function askNew(given: Given, access: Access): Promise<Asked> {
  const fields = fieldsOf(given.body);
  const { groupId } = given.params;
  const group = groupId === undefined ? undefined : await getGroup(groupId, access.calls());
  const segments = group?.segment ? [group.segment] : await readSegments(fields['segments'], access);
  const memberships = segments.map(requireMembership);
  const audienceId = group?.audienceId ?? (await ensureContactsAudience(access, given));
  requireWithin(audienceId, segments);
  const body = newContactFrom(fields, memberships);
  await makeRoom({ audienceId, id: String(body['email']) }, body['properties'], access);
  return { params: { audienceId }, query: { upsert: true }, body };
}

/** @throws AppError validation_error for a segment of another audience, in which the contact would not be */
function requireWithin(audienceId: string, segments: readonly JoinedSegment[]): void {
  const elsewhere = segments.findIndex((segment) => segment.audienceId !== audienceId);
  if (elsewhere < 0) return;
  const field = `segments[${elsewhere}]`;
  throw invalid(field, `\`${field}\` is a segment of another audience`);
}

/**
 * Returns the segments that a new contact is added to: a list of ids, or of objects with an id. They are read from the store, because each
 * request of a call counts for the limit of requests, which a list of segments would exceed by itself.
 */
async function readSegments(given: unknown, { db, request }: Access): Promise<JoinedSegment[]> {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || given.length > MAX_SEGMENTS)
    throw invalid('segments', `\`segments\` must be a list of at most ${MAX_SEGMENTS} segments`);
  const { tenantId } = callerOf(request);
  const segments: JoinedSegment[] = [];
  for (const [index, item] of given.entries()) {
    const id: unknown = isFields(item) ? item['id'] : item;
    const row = typeof id === 'string' ? await findSegment(db.read, tenantId, id) : undefined;
    if (!row)
      throw invalid(`segments[${index}]`, `\`segments[${index}]\` is not the id of one of your segments`);
    segments.push({ ...row, filter: JSON.parse(row.filter) as Filter });
  }
  return segments;
}
