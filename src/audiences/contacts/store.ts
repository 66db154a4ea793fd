/**
 * Stores contacts. All SQL of this table is here, and nothing else writes it. Live and test keys share contacts. The API
 * and the import of files both add contacts with `putContact`. Events are recorded by the callers (change.ts).
 */

import { sql } from 'kysely';
import type { ContactRow, TopicRow } from '../../db/marketing-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import { deleteRows, findColumns, findRow, insertRow, updateRows } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { orNotFound } from '../../system/errors.ts';
import { isId } from '../../system/ids.ts';
import { countChoices, findDecision, moveChoices, readChoices } from '../choices-store.ts';
import { type ConsentRequest, isPending, requestedConsent } from '../opt-in/consent.ts';
import { countContacts } from '../store.ts';
import { forgetActivity, forgetActivityUpTo } from './activity-store.ts';
import { type ContactFields, contactAddress, findAddress } from './fields.ts';
import { mergeContact, newContact, onlyOf, withDecision, withoutReturning } from './merge.ts';
import type { ContactStatus } from './schemas.ts';

type TenantId = ContactRow['tenantId'];
type AudienceId = ContactRow['audienceId'];

/** Maximum number of contacts that one write changes for the reader of their address. */
const CONTACTS_PER_DECISION = 100;

type OfAddress = Pick<ContactRow, 'tenantId' | 'address'> & { after: AudienceId | '' };

const ofAddress = statement((db, param: Param<OfAddress>) =>
  db
    .selectFrom('contacts')
    .selectAll()
    .where('tenantId', '=', constant(param('tenantId')))
    .where('address', '=', constant(param('address')))
    .where('audienceId', '>', constant(param('after') as AudienceId))
    .orderBy('audienceId')
    .limit(sql.lit(CONTACTS_PER_DECISION)),
);

/** Returns the contacts with an address, in the order of their audiences, and whether there may be more. */
export async function listContactsOfAddress(
  tx: Tx,
  key: OfAddress,
): Promise<{ contacts: ContactRow[]; hasMore: boolean }> {
  const contacts = await ofAddress.all(tx, key);
  return { contacts, hasMore: contacts.length === CONTACTS_PER_DECISION };
}

/** Names a contact by its id, or by its address in any spelling. The caller has checked that the tenant has the audience. */
type ContactKey = { audienceId: AudienceId; idOrAddress: string };

/** Returns a contact, or undefined when the audience has no such contact. */
export async function findContact(
  tx: Tx,
  tenantId: TenantId,
  { audienceId, idOrAddress }: ContactKey,
): Promise<ContactRow | undefined> {
  if (isId('ct', idOrAddress)) return findRow(tx, 'contacts', { id: idOrAddress, tenantId, audienceId });
  const address = findAddress(idOrAddress);
  return address === undefined ? undefined : findRow(tx, 'contacts', { tenantId, address, audienceId });
}

const newestId = statement((db, param: Param<Pick<ContactRow, 'audienceId'>>) =>
  db
    .selectFrom('contacts')
    .select('id')
    .where('audienceId', '=', param('audienceId'))
    .orderBy('id', 'desc')
    .limit(sql.lit(1)),
);

/** Returns the id of the newest contact of an audience, or undefined when it has none. */
export async function findNewestContact(
  tx: Tx,
  audienceId: AudienceId,
): Promise<ContactRow['id'] | undefined> {
  return (await newestId.first(tx, { audienceId }))?.id;
}

/** Returns the address of a contact, or undefined when it was deleted. The id comes from a row, never from a caller. */
export async function findAddressOf(tx: Tx, id: ContactRow['id']): Promise<string | undefined> {
  return (await findColumns(tx, 'contacts', { select: ['address'], where: { id } }))?.address;
}

/**
 * Returns a contact.
 * @throws AppError not_found
 */
export async function getContact(tx: Tx, tenantId: TenantId, key: ContactKey): Promise<ContactRow> {
  return orNotFound(await findContact(tx, tenantId, key), 'Contact');
}

/** The condition is literal, because SQLite uses a partial index of pending contacts only when it can see it. */
const isPendingColumn = sql<boolean>`pending = 1`;

export type ContactFilter = {
  /** The address to find, as its `addressKey`. */
  address?: string;
  unsubscribed?: boolean;
  status?: ContactStatus;
};

/** Returns a page of the contacts of an audience, newest first. */
export function listContacts(
  tx: Tx,
  tenantId: TenantId,
  {
    audienceId,
    address,
    unsubscribed,
    status,
    ...page
  }: ContactFilter & PageRequest & { audienceId: AudienceId },
): Promise<Page<ContactRow>> {
  let wanted = tx
    .selectFrom('contacts')
    .selectAll()
    .where('tenantId', '=', tenantId)
    .where('audienceId', '=', audienceId);
  if (address !== undefined) wanted = wanted.where('address', '=', address);
  if (unsubscribed !== undefined) wanted = wanted.where('unsubscribed', '=', unsubscribed ? 1 : 0);
  if (status !== undefined) wanted = wanted.where('unsubscribed', '=', status === 'unsubscribed' ? 1 : 0);
  if (status === 'pending') wanted = wanted.where(isPendingColumn);
  if (status === 'subscribed') wanted = wanted.where('pending', '=', 0);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

const topicsOfTenant = statement((db, param: Param<Pick<TopicRow, 'tenantId'>>) =>
  db.selectFrom('topics').select('id').where('tenantId', '=', param('tenantId')),
);

/** Returns the ids of all topics of the tenant. */
export async function listTopicIds(tx: Tx, tenantId: TenantId): Promise<Set<string>> {
  return new Set((await topicsOfTenant.all(tx, { tenantId })).map(({ id }) => id));
}

/** Returns the contacts without their choices of deleted topics, so that they can be shown. */
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

/** A contact to be added. Fields that are left out get their default, or stay when the contact exists. */
export type WantedContact = Pick<ContactRow, 'id' | 'tenantId' | 'audienceId'> &
  ContactFields & {
    email: string;
    now: number;
    /** Present when the reader of the address must confirm first. */
    pending?: ConsentRequest;
  };

/** The outcome of `putContact`. `before` is the contact that had the address already. */
type PutResult =
  | { outcome: 'created'; contact: ContactRow; before?: undefined }
  | { outcome: 'updated' | 'unchanged' | 'skipped'; contact: ContactRow; before: ContactRow };

/**
 * Adds a contact to an audience that the caller has found, or updates the contact that has the address already. That one
 * keeps its id and its spelling of the address. Neither `unsubscribed: false` nor an opt-in subscribes it again. With
 * `skip` it stays as it is, and so does any contact but a pending one that is to be pending: what a form asks for never
 * changes somebody who has confirmed or left. Choices of topics that do not exist are dropped.
 * @throws AppError validation_error, before anything is written, when the contact would have too many properties
 */
export async function putContact(
  tx: Tx,
  wanted: WantedContact,
  onConflict: 'update' | 'skip',
): Promise<PutResult> {
  const { id, tenantId, audienceId, now, pending, ...fields } = wanted;
  const before = await findRow(tx, 'contacts', {
    tenantId,
    address: contactAddress(fields.email),
    audienceId,
  });
  if (before && onConflict === 'skip') return { outcome: 'skipped', contact: before, before };
  if (before && pending && !isPending(before)) return { outcome: 'unchanged', contact: before, before };
  const topicIds = fields.topics ? await listTopicIds(tx, tenantId) : new Set<string>();
  if (before) {
    const contact = mergeContact(before, { fields: withoutReturning(before, fields), now, topicIds });
    if (contact === before) return { outcome: 'unchanged', contact, before };
    await updateContact(tx, before, contact);
    return { outcome: 'updated', contact, before };
  }
  const { email } = fields;
  const wantedContact = newContact({ id, tenantId, audienceId, email }, { fields, now, topicIds });
  const contact = withRequest(withDecision(wantedContact, await findDecision(tx, wantedContact)), pending);
  await insertRow(tx, 'contacts', contact);
  await moveChoices(tx, undefined, contact);
  await countContacts(tx, audienceId, 1);
  return { outcome: 'created', contact };
}

/** Returns a new contact that waits for the confirmation of its reader, unless the reader has left before. */
function withRequest(contact: ContactRow, request: ConsentRequest | undefined): ContactRow {
  if (!request || contact.unsubscribed === 1) return contact;
  return { ...contact, pending: 1, consent: requestedConsent(request, contact.createdAt) };
}

/** Stores a changed contact. The caller has checked that no other contact of the audience has its address. */
export async function updateContact(tx: Tx, before: ContactRow, after: ContactRow): Promise<void> {
  const { id, tenantId, audienceId, createdAt, ...set } = after;
  await updateRows(tx, 'contacts', { set, where: { id } });
  await moveChoices(tx, before, after);
}

/** Removes a contact that the caller has found, and its choices. */
export async function deleteContactRow(tx: Tx, contact: ContactRow): Promise<void> {
  await deleteRows(tx, 'contacts', { id: contact.id });
  await moveChoices(tx, contact, undefined);
  await forgetActivity(tx, contact);
  await countContacts(tx, contact.audienceId, -1);
}

const oldest = statement((db, param: Param<{ audienceId: AudienceId; limit: number }>) =>
  db
    .selectFrom('contacts')
    .select(['id', 'tenantId', 'address', 'unsubscribed', 'topics', 'pending'])
    .where('audienceId', '=', constant(param('audienceId')))
    .orderBy('id')
    .limit(constant(param('limit'))),
);

const removeUpTo = statement((db, param: Param<{ audienceId: AudienceId; last: ContactRow['id'] }>) =>
  db.deleteFrom('contacts').where('audienceId', '=', param('audienceId')).where('id', '<=', param('last')),
);

/**
 * Removes contacts of a deleted audience, oldest first, until `limit` rows are gone. Rows of choices count too. Returns the
 * number of removed rows; fewer than `limit` means that no contact is left. The audience's number of contacts is not
 * updated, because nobody sees a deleted audience.
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
  if (last === undefined) return rows;
  await removeUpTo.all(tx, { audienceId, last });
  await forgetActivityUpTo(tx, audienceId, last);
  return rows;
}
