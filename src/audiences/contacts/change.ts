/** Creates, changes and deletes contacts for the API. Each change is one write and includes its events. */

import { countUnsubscribed } from '../../counts/store.ts';
import type { ContactRow } from '../../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { Mode } from '../../db/tables.ts';
import { type EventType, recordEvent } from '../../events/store.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { readChoices } from '../choices-store.ts';
import {
  type Requester,
  requestConfirmation,
  requireOptIn,
  type WithConfirmation,
} from '../opt-in/request.ts';
import { getAudience } from '../store.ts';
import { type ContactFields, unknownTopic } from './fields.ts';
import { forShowing } from './for-showing.ts';
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
} from './store.ts';

/** The endpoints of the key's mode receive the events. `now` is in Unix milliseconds. */
type EventContext = { mode: Mode; now: number };

/** A key that changes contacts, and with it what limits the confirmation mail that it causes. */
type KeyContext = EventContext & Requester;

type NewContactInput = {
  wanted: Omit<WantedContact, 'audienceId'>;
  audienceId: string;
  requester: Requester;
  upsert: boolean;
};
type StoredContact = { contact: WithConfirmation; isNew: boolean };

/**
 * Creates a contact, or with `upsert` updates the one that has its address already. A pending one gets a confirmation mail.
 * @throws AppError not_found for the audience, validation_error, quota_exceeded, already_exists with `details.id` unless
 * `upsert`
 */
export const createContact = defineWrite(
  'contacts.create',
  async (tx, { requester, upsert, ...input }: NewContactInput): Promise<StoredContact> => {
    const { tenantId, topics, pending } = input.wanted;
    const { mode, now } = requester;
    const { id: audienceId, optIn } = await getAudience(tx, tenantId, input.audienceId);
    if (pending) requireOptIn({ optIn }, 'status');
    await requireTopics(tx, tenantId, topics);
    const wanted = { ...input.wanted, audienceId };
    const { outcome, contact: stored, before } = await putContact(tx, wanted, upsert ? 'update' : 'skip');
    if (outcome === 'skipped') throw addressTaken(stored, '; `?upsert=true` updates it');
    if (pending) await requestConfirmation(tx, stored, { requester, isChecked: true });
    const [contact = stored] = await forShowing(tx, { tenantId, mode }, [stored]);
    if (outcome === 'created') await recordContactEvent(tx, 'contact.created', { contact, mode, now });
    if (outcome === 'updated') await recordChange(tx, before, { contact, mode, now });
    return { contact, isNew: outcome === 'created' };
  },
);

type ContactById = KeyContext & Pick<ContactRow, 'tenantId'> & { audienceId: string; idOrAddress: string };

/**
 * Changes a contact and returns it. Fields that the change does not name stay. A pending contact gets a confirmation mail at
 * its new address.
 * @throws AppError not_found, validation_error, quota_exceeded, already_exists with `details.id`
 */
export const changeContact = defineWrite(
  'contacts.change',
  async (tx, { fields, ...target }: ContactById & { fields: ContactFields }): Promise<WithConfirmation> => {
    const { tenantId, mode, now } = target;
    const before = await getTarget(tx, target);
    const topicIds = await requireTopics(tx, tenantId, fields.topics);
    const stored = mergeContact(before, { fields, now, topicIds });
    if (stored.address !== before.address) await requireFree(tx, stored);
    if (stored !== before) await updateContact(tx, before, stored);
    if (stored.address !== before.address)
      await requestConfirmation(tx, stored, { requester: target, isChecked: true });
    const [contact = stored] = await forShowing(tx, { tenantId, mode }, [stored]);
    if (stored !== before) await recordChange(tx, before, { contact, mode, now });
    return contact;
  },
);

/**
 * Deletes a contact.
 * @throws AppError not_found
 */
export const deleteContact = defineWrite(
  'contacts.delete',
  async (tx, target: EventContext & Target): Promise<void> => {
    const { tenantId, mode, now } = target;
    const stored = await getTarget(tx, target);
    const [contact = stored] = await forShowing(tx, { tenantId, mode }, [stored]);
    await deleteContactRow(tx, stored);
    await recordContactEvent(tx, 'contact.deleted', { contact, mode, now });
  },
);

type Target = Pick<ContactById, 'tenantId' | 'audienceId' | 'idOrAddress'>;

async function getTarget(tx: Tx, { tenantId, audienceId, idOrAddress }: Target): Promise<ContactRow> {
  const audience = await getAudience(tx, tenantId, audienceId);
  return getContact(tx, tenantId, { audienceId: audience.id, idOrAddress });
}

/**
 * Returns the ids of the tenant's topics, or none when `topics` is undefined.
 * @throws AppError validation_error naming the first of `topics` that does not exist
 */
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
  const holder = await findContact(tx, tenantId, { audienceId, idOrAddress: address });
  if (holder) throw addressTaken(holder);
}

function addressTaken({ id }: ContactRow, remedy = ''): AppError {
  const message = `The audience has a contact with this address already${remedy}`;
  return new AppError('already_exists', message, { details: { id } });
}

type ContactEvent = EventContext & { contact: WithConfirmation };

/**
 * Records the events of a contact whose reader has decided. Leaving one topic is an unsubscribe too. A reader belongs to no
 * mode; the events go to the endpoints of live mail.
 */
export async function recordDecision(
  tx: Tx,
  before: ContactRow,
  { contact: stored, now }: { contact: ContactRow; now: number },
): Promise<void> {
  const [contact = stored] = await forShowing(tx, { tenantId: stored.tenantId, mode: 'live' }, [stored]);
  const event = { contact, mode: 'live', now } as const;
  await recordContactEvent(tx, 'contact.updated', event);
  if (hasLeft(before, stored)) await recordContactEvent(tx, 'contact.unsubscribed', event);
}

function hasLeft(before: ContactRow, after: ContactRow): boolean {
  const earlier = readChoices(before.topics);
  const leftTopic = Object.entries(readChoices(after.topics)).some(
    ([id, optedIn]) => !optedIn && earlier[id] !== false,
  );
  return leftTopic || (before.unsubscribed === 0 && after.unsubscribed === 1);
}

async function recordChange(tx: Tx, before: ContactRow, event: ContactEvent): Promise<void> {
  await recordContactEvent(tx, 'contact.updated', event);
  if (before.unsubscribed === 0 && event.contact.unsubscribed === 1)
    await recordContactEvent(tx, 'contact.unsubscribed', event);
}

/** Records an event whose data is the contact as the API shows it. A deleted contact is shown as it was before. */
async function recordContactEvent(
  tx: Tx,
  type: EventType,
  { contact, mode, now: createdAt }: ContactEvent,
): Promise<void> {
  const id = newId('evt', createdAt);
  const { tenantId } = contact;
  if (type === 'contact.unsubscribed') await countUnsubscribed(tx, contact, { mode, at: createdAt });
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
