/**
 * Makes room among the properties of a contact, whose number is limited. When a segment is deleted, its contacts keep the property that put
 * them into it (segments.ts). Nobody sees it, and it is removed once a change needs its place.
 */
import { MAX_PROPERTIES, readProperties } from '../../../audiences/contacts/merge.ts';
import { findContact } from '../../../audiences/contacts/store.ts';
import { listSegments, MAX_SEGMENTS } from '../../../audiences/segments/store.ts';
import type { ContactRow } from '../../../db/marketing-tables.ts';
import { path } from '../../../http/json/calls.ts';
import { callerOf } from '../../../tenants/authenticate.ts';
import type { Access } from '../call.ts';
import { isFields } from '../fields.ts';
import { asProperties } from './fields.ts';
import type { ContactParams } from './place.ts';
import { isMembership } from './segments.ts';

/** Removes the properties of deleted segments from a contact, if there is one, when it has no room for `added` otherwise. */
export async function makeRoom(
  { audienceId, id }: ContactParams,
  added: unknown,
  access: Access,
): Promise<void> {
  if (!isFields(added)) return;
  const { tenantId } = callerOf(access.request);
  const key = { audienceId: audienceId as ContactRow['audienceId'], idOrAddress: id };
  const contact = await findContact(access.db.read, tenantId, key);
  const present = contact ? Object.keys(readProperties(contact.properties)) : [];
  if (!contact || present.length + Object.keys(added).length <= MAX_PROPERTIES) return;
  const { items } = await listSegments(access.db.read, tenantId, { audienceId, limit: MAX_SEGMENTS });
  const isNeeded = (name: string) => items.some(({ filter }) => filter.includes(name));
  const unused = present.filter((name) => isMembership(name) && !isNeeded(name));
  if (unused.length === 0) return;
  const properties = asProperties(unused, false);
  await access.calls().patch(path`/audiences/${audienceId}/contacts/${contact.id}`, { properties });
}
