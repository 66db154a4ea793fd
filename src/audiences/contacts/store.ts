/**
 * Contacts: all SQL, and the only writer of their table. Live and test keys share them. What adds one, by the API or from a
 * file, is `putContact`; events are recorded by those who want them (change.ts).
 */

import type { ContactRow, TopicRow } from '../../db/marketing-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { notFound } from '../../system/errors.ts';
import { isId } from '../../system/ids.ts';
import { countContacts } from '../store.ts';
import { countChoices, moveChoices } from './choices/store.ts';
import { type ContactFields, contactAddress, findAddress } from './fields.ts';
import { mergeContact, newContact, onlyOf, readChoices, withoutReturning } from './merge.ts';

type TenantId = ContactRow['tenantId'];
type AudienceId = ContactRow['audienceId'];

const byId = statement((db, param: Param<Pick<ContactRow, 'tenantId' | 'audienceId' | 'id'>>) =>
  db
    .selectFrom('contacts')
    .selectAll()
    .where('id', '=', param('id'))
    .where('tenantId', '=', param('tenantId'))
    .where('audienceId', '=', param('audienceId')),
);

const byAddress = statement((db, param: Param<Pick<ContactRow, 'tenantId' | 'audienceId' | 'address'>>) =>
  db
    .selectFrom('contacts')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('address', '=', param('address'))
    .where('audienceId', '=', param('audienceId')),
);

/** By its id or its address in any spelling. The caller has found the audience, and of this tenant. */
export async function findContact(
  tx: Tx,
  tenantId: TenantId,
  audienceId: AudienceId,
  idOrAddress: string,
): Promise<ContactRow | undefined> {
  if (isId('ct', idOrAddress)) return byId.first(tx, { tenantId, audienceId, id: idOrAddress });
  const address = findAddress(idOrAddress);
  return address === undefined ? undefined : byAddress.first(tx, { tenantId, audienceId, address });
}

/** As `findContact`. @throws AppError not_found */
export async function getContact(
  tx: Tx,
  tenantId: TenantId,
  audienceId: AudienceId,
  idOrAddress: string,
): Promise<ContactRow> {
  const contact = await findContact(tx, tenantId, audienceId, idOrAddress);
  if (!contact) throw notFound('Contact');
  return contact;
}

export type ContactFilter = {
  /** An `addressKey`. */
  address?: string;
  unsubscribed?: boolean;
};

/** Newest first. */
export function listContacts(
  tx: Tx,
  tenantId: TenantId,
  audienceId: AudienceId,
  { address, unsubscribed, ...page }: ContactFilter & PageRequest,
): Promise<Page<ContactRow>> {
  let wanted = tx
    .selectFrom('contacts')
    .selectAll()
    .where('tenantId', '=', tenantId)
    .where('audienceId', '=', audienceId);
  if (address !== undefined) wanted = wanted.where('address', '=', address);
  if (unsubscribed !== undefined) wanted = wanted.where('unsubscribed', '=', unsubscribed ? 1 : 0);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

const topicsOfTenant = statement((db, param: Param<Pick<TopicRow, 'tenantId'>>) =>
  db.selectFrom('topics').select('id').where('tenantId', '=', param('tenantId')),
);

/** The topics there are. */
export async function listTopicIds(tx: Tx, tenantId: TenantId): Promise<Set<string>> {
  return new Set((await topicsOfTenant.all(tx, { tenantId })).map(({ id }) => id));
}

/** For showing: without the choices of topics that were deleted since. */
export async function withLiveTopics(
  tx: Tx,
  tenantId: TenantId,
  contacts: readonly ContactRow[],
): Promise<ContactRow[]> {
  if (contacts.every(({ topics }) => topics === '{}')) return [...contacts];
  const topicIds = await listTopicIds(tx, tenantId);
  return contacts.map((contact) => ({
    ...contact,
    topics: JSON.stringify(onlyOf(topicIds, readChoices(contact.topics))),
  }));
}

/** What is absent was not said. */
export type WantedContact = Pick<ContactRow, 'id' | 'tenantId' | 'audienceId'> &
  ContactFields & { email: string; now: number };

/** `before`: what was known already of a contact with this address. */
export type PutResult =
  | { outcome: 'created'; contact: ContactRow; before?: undefined }
  | { outcome: 'updated' | 'unchanged' | 'skipped'; contact: ContactRow; before: ContactRow };

/**
 * Part of a write, which has found the audience: a contact with this address is there from here on, counted, and knows what
 * was said. One that was there keeps its id, its spelling of the address, and what it left: neither `unsubscribed: false`
 * nor an opt-in brings it back. With `skip` it stays as it is. Choices of topics that do not exist are not kept.
 * @throws AppError validation_error for more properties than there may be, before anything is written
 */
export async function putContact(
  tx: Tx,
  wanted: WantedContact,
  onConflict: 'update' | 'skip',
): Promise<PutResult> {
  const { id, tenantId, audienceId, now, ...fields } = wanted;
  const before = await byAddress.first(tx, { tenantId, audienceId, address: contactAddress(fields.email) });
  if (before && onConflict === 'skip') return { outcome: 'skipped', contact: before, before };
  const topicIds = fields.topics ? await listTopicIds(tx, tenantId) : new Set<string>();
  if (before) {
    const contact = mergeContact(before, { fields: withoutReturning(before, fields), now, topicIds });
    if (contact === before) return { outcome: 'unchanged', contact, before };
    await updateContact(tx, before, contact);
    return { outcome: 'updated', contact, before };
  }
  const { email } = fields;
  const contact = newContact({ id, tenantId, audienceId, email }, { fields, now, topicIds });
  await insert.all(tx, contact);
  await moveChoices(tx, undefined, contact);
  await countContacts(tx, audienceId, 1);
  return { outcome: 'created', contact };
}

const insert = statement((db, param: Param<ContactRow>) =>
  db.insertInto('contacts').values({
    id: param('id'),
    tenantId: param('tenantId'),
    audienceId: param('audienceId'),
    ...columnsOf(param),
    createdAt: param('createdAt'),
  }),
);

const update = statement((db, param: Param<ContactRow>) =>
  db.updateTable('contacts').set(columnsOf(param)).where('id', '=', param('id')),
);

/** Those that may change. */
function columnsOf(param: Param<ContactRow>) {
  return {
    email: param('email'),
    address: param('address'),
    firstName: param('firstName'),
    lastName: param('lastName'),
    unsubscribed: param('unsubscribed'),
    unsubscribedAt: param('unsubscribedAt'),
    updatedAt: param('updatedAt'),
    topics: param('topics'),
    properties: param('properties'),
  };
}

/** Part of a write, which has seen that no other contact of the audience has the address. */
export async function updateContact(tx: Tx, before: ContactRow, after: ContactRow): Promise<void> {
  await update.all(tx, after);
  await moveChoices(tx, before, after);
}

const remove = statement((db, param: Param<Pick<ContactRow, 'id'>>) =>
  db.deleteFrom('contacts').where('id', '=', param('id')),
);

/** Part of a write, which has found it. */
export async function deleteContactRow(tx: Tx, contact: ContactRow): Promise<void> {
  await remove.all(tx, contact);
  await moveChoices(tx, contact, undefined);
  await countContacts(tx, contact.audienceId, -1);
}

const oldest = statement((db, param: Param<{ audienceId: AudienceId; limit: number }>) =>
  db
    .selectFrom('contacts')
    .select(['id', 'tenantId', 'address', 'unsubscribed', 'topics'])
    .where('audienceId', '=', constant(param('audienceId')))
    .orderBy('id')
    .limit(constant(param('limit'))),
);

const removeUpTo = statement((db, param: Param<{ audienceId: AudienceId; last: ContactRow['id'] }>) =>
  db.deleteFrom('contacts').where('audienceId', '=', param('audienceId')).where('id', '<=', param('last')),
);

/**
 * Part of the write that clears a deleted audience, whose count nobody sees. `limit`: rows, those of its contacts' choices
 * too. Answers how many were removed: fewer are the last of them.
 */
export async function deleteContactsOf(tx: Tx, audienceId: AudienceId, limit: number): Promise<number> {
  let rows = 0;
  let last: ContactRow['id'] | undefined;
  for (const contact of await oldest.all(tx, { audienceId, limit })) {
    if (rows >= limit) break;
    await moveChoices(tx, contact, undefined);
    rows += 1 + countChoices(contact);
    last = contact.id;
  }
  if (last !== undefined) await removeUpTo.all(tx, { audienceId, last });
  return rows;
}
