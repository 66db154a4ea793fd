/** What the API does to a contact, with the events that tell of it, each in one write. */

import type { ContactRow } from '../../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { Mode } from '../../db/tables.ts';
import { type EventType, recordEvent } from '../../events/store.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { getAudience } from '../store.ts';
import { type ContactFields, unknownTopic } from './fields.ts';
import { mergeContact } from './merge.ts';
import { showContact } from './show.ts';
import {
  deleteContactRow,
  findContact,
  getContact,
  listTopicIds,
  putContact,
  updateContact,
  type WantedContact,
  withLiveTopics,
} from './store.ts';

/** Whose endpoints hear of it: those of the key's mode. */
type Moment = { mode: Mode; now: number };

export type NewContactInput = {
  wanted: Omit<WantedContact, 'audienceId'>;
  audienceId: string;
  mode: Mode;
  upsert: boolean;
};
export type StoredContact = { contact: ContactRow; isNew: boolean };

/** @throws AppError not_found for the audience, validation_error, already_exists with `details.id` unless `upsert` */
export const createContact = defineWrite(
  'contacts.create',
  async (tx, { mode, upsert, ...input }: NewContactInput): Promise<StoredContact> => {
    const { tenantId, now, topics } = input.wanted;
    const { id: audienceId } = await getAudience(tx, tenantId, input.audienceId);
    await requireTopics(tx, tenantId, topics);
    const wanted = { ...input.wanted, audienceId };
    const { outcome, contact: stored, before } = await putContact(tx, wanted, upsert ? 'update' : 'skip');
    if (outcome === 'skipped') throw addressTaken(stored, '; `?upsert=true` updates it');
    const [contact = stored] = await withLiveTopics(tx, tenantId, [stored]);
    if (outcome === 'created') await tell(tx, 'contact.created', contact, { mode, now });
    if (outcome === 'updated') await tellOfChange(tx, before, contact, { mode, now });
    return { contact, isNew: outcome === 'created' };
  },
);

export type ContactById = Moment & Pick<ContactRow, 'tenantId'> & { audienceId: string; idOrAddress: string };

/** What is not named stays. @throws AppError not_found, validation_error, already_exists with `details.id` */
export const changeContact = defineWrite(
  'contacts.change',
  async (tx, { fields, ...asked }: ContactById & { fields: ContactFields }): Promise<ContactRow> => {
    const { tenantId, now } = asked;
    const before = await getAsked(tx, asked);
    const topicIds = await requireTopics(tx, tenantId, fields.topics);
    const stored = mergeContact(before, { fields, now, topicIds });
    if (stored.address !== before.address) await requireFree(tx, stored);
    if (stored !== before) await updateContact(tx, before, stored);
    const [contact = stored] = await withLiveTopics(tx, tenantId, [stored]);
    if (stored !== before) await tellOfChange(tx, before, contact, asked);
    return contact;
  },
);

/** @throws AppError not_found */
export const deleteContact = defineWrite('contacts.delete', async (tx, asked: ContactById): Promise<void> => {
  const stored = await getAsked(tx, asked);
  const [contact = stored] = await withLiveTopics(tx, asked.tenantId, [stored]);
  await deleteContactRow(tx, stored);
  await tell(tx, 'contact.deleted', contact, asked);
});

async function getAsked(tx: Tx, { tenantId, audienceId, idOrAddress }: ContactById): Promise<ContactRow> {
  const audience = await getAudience(tx, tenantId, audienceId);
  return getContact(tx, tenantId, audience.id, idOrAddress);
}

/** Answers the topics there are. @throws AppError validation_error naming one that is none of them */
async function requireTopics(
  tx: Tx,
  tenantId: ContactRow['tenantId'],
  topics: ContactFields['topics'],
): Promise<ReadonlySet<string>> {
  if (!topics) return new Set();
  const topicIds = await listTopicIds(tx, tenantId);
  const unknown = Object.keys(topics).findIndex((id) => !topicIds.has(id));
  if (unknown >= 0) throw unknownTopic(unknown);
  return topicIds;
}

async function requireFree(tx: Tx, { tenantId, audienceId, address }: ContactRow): Promise<void> {
  const holder = await findContact(tx, tenantId, audienceId, address);
  if (holder) throw addressTaken(holder);
}

function addressTaken({ id }: ContactRow, remedy = ''): AppError {
  const message = `The audience has a contact with this address already${remedy}`;
  return new AppError('already_exists', message, { details: { id } });
}

async function tellOfChange(tx: Tx, before: ContactRow, after: ContactRow, moment: Moment): Promise<void> {
  await tell(tx, 'contact.updated', after, moment);
  if (before.unsubscribed === 0 && after.unsubscribed === 1)
    await tell(tx, 'contact.unsubscribed', after, moment);
}

/** api.md 1.3: additive events; their data is the contact as the API shows it, a deleted one as it was. */
async function tell(
  tx: Tx,
  type: EventType,
  contact: ContactRow,
  { mode, now: createdAt }: Moment,
): Promise<void> {
  const id = newId('evt', createdAt);
  const { tenantId } = contact;
  await recordEvent(tx, {
    id,
    tenantId,
    mode,
    type,
    emailId: null,
    createdAt,
    data: showContact(contact),
  });
}
