/** Translates a new contact, and the segments that it is added to. */

import type { Calls } from '../../../http/json/calls.ts';
import { AppError, invalid } from '../../../system/errors.ts';
import type { Access, Asked, Given } from '../call.ts';
import { fieldsOf, isFields } from '../fields.ts';
import { ensureContactsAudience } from './audience.ts';
import { newContactFrom } from './fields.ts';
import { makeRoom } from './room.ts';
import { getGroup, getSegment, requireMembership, type ShownSegment } from './segments.ts';

/** Maximum number of segments to which a contact is added when it is made: each is looked up. Our own limit. */
const MAX_SEGMENTS = 50;

/** An address that a contact has already updates that contact, as at Resend. It stays unsubscribed if it is. */
export async function askNew(given: Given, access: Access): Promise<Asked> {
  const fields = fieldsOf(given.body);
  const { groupId } = given.params;
  const group = groupId === undefined ? undefined : await getGroup(groupId, access.calls());
  const segments = group?.segment ? [group.segment] : await readSegments(fields['segments'], access.calls());
  const memberships = segments.map(requireMembership);
  const audienceId = group?.audienceId ?? (await ensureContactsAudience(access, given));
  requireWithin(audienceId, segments);
  const body = newContactFrom(fields, memberships);
  await makeRoom({ audienceId, id: String(body['email']) }, body['properties'], access);
  return { params: { audienceId }, query: { upsert: true }, body };
}

/** @throws AppError validation_error for a segment of another audience, in which the contact would not be */
function requireWithin(audienceId: string, segments: readonly ShownSegment[]): void {
  const elsewhere = segments.findIndex((segment) => segment.audienceId !== audienceId);
  if (elsewhere < 0) return;
  const field = `segments[${elsewhere}]`;
  throw invalid(field, `\`${field}\` is a segment of another audience`);
}

/** Returns the segments that a new contact is added to: a list of ids, or of objects with an id. */
async function readSegments(given: unknown, calls: Calls): Promise<ShownSegment[]> {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || given.length > MAX_SEGMENTS)
    throw invalid('segments', `\`segments\` must be a list of at most ${MAX_SEGMENTS} segments`);
  const segments: ShownSegment[] = [];
  for (const [index, item] of given.entries()) {
    const id: unknown = isFields(item) ? item['id'] : item;
    const found = typeof id === 'string' ? await findSegment(id, calls) : undefined;
    if (!found)
      throw invalid(`segments[${index}]`, `\`segments[${index}]\` is not the id of one of your segments`);
    segments.push(found);
  }
  return segments;
}

async function findSegment(id: string, calls: Calls): Promise<ShownSegment | undefined> {
  try {
    return await getSegment(id, calls);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}
