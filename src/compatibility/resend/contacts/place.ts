/** Finds the contact that a call names: in the audience of all contacts, or in a group. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import { type Calls, path } from '../../../http/json/calls.ts';
import { notFound } from '../../../system/errors.ts';
import type { Access, Given } from '../call.ts';
import { requireContactsAudience } from './audience.ts';
import { getGroup, requireMembership, type ShownSegment } from './segments.ts';

/** Parameters of the path of a contact of ours. */
export type ContactParams = { audienceId: string; id: string };

/**
 * Returns the place of a contact that a call names by its id or address.
 * @throws AppError not_found, also for a contact that is not in the segment that the call names
 */
export async function askOne(given: Given, access: Access): Promise<{ params: ContactParams }> {
  const { groupId, id = '' } = given.params;
  if (groupId === undefined) return { params: { audienceId: await requireContactsAudience(access), id } };
  const group = await getGroup(groupId, access.calls());
  const params = { audienceId: group.audienceId, id };
  if (group.segment) await requireMember(group.segment, params, access.calls());
  return { params };
}

async function requireMember(segment: ShownSegment, params: ContactParams, calls: Calls): Promise<void> {
  const { properties } = await getContact(params, calls);
  if (!Object.hasOwn(properties, requireMembership(segment))) throw notFound('Contact');
}

/** Returns a contact by its id or its address. */
export function getContact({ audienceId, id }: ContactParams, calls: Calls): Promise<ShownContact> {
  return calls.get(path`/audiences/${audienceId}/contacts/${id}`);
}
