/** Merges the fields that a caller gives into a contact. This file has no SQL; contacts/store.ts writes the result. */
import type { ContactRow } from '../../db/marketing-tables.ts';
import { invalid } from '../../system/errors.ts';
import { ALL_TOPICS, type Choices, readChoices } from '../choices-store.ts';
import { type ContactFields, contactAddress, type PropertyValue } from './fields.ts';
import { forTextFields, givenTexts, TEXT_FIELD_NAMES } from './text-fields.ts';

/** Maximum number of properties of a contact. */
export const MAX_PROPERTIES = 100;
/** Maximum size of all properties of a contact together, as JSON. */
export const MAX_PROPERTIES_BYTES = 32 * 1024;

/** Fields to merge into a contact. `now` is in Unix milliseconds; `topicIds` are the topics that exist. */
type ContactUpdate = { fields: ContactFields; now: number; topicIds: ReadonlySet<string> };

/**
 * Returns a new contact with the given fields, and defaults for the others.
 * @throws AppError validation_error when it would have too many properties
 */
export function newContact(
  key: Pick<ContactRow, 'id' | 'tenantId' | 'audienceId'> & { email: string },
  update: ContactUpdate,
): ContactRow {
  const { id, tenantId, audienceId, email } = key;
  const blank: ContactRow = {
    id,
    tenantId,
    audienceId,
    email,
    address: contactAddress(email),
    ...forTextFields(() => null),
    unsubscribed: 0,
    unsubscribedAt: null,
    createdAt: update.now,
    updatedAt: update.now,
    topics: '{}',
    properties: '{}',
    pending: 0,
    consent: null,
  };
  return withFields(blank, update);
}

/**
 * Returns the contact with the given fields. Properties and choices of topics are merged key by key. Returns `before`
 * itself when nothing changes.
 * @throws AppError validation_error when it would have too many properties
 */
export function mergeContact(before: ContactRow, update: ContactUpdate): ContactRow {
  const after = { ...withFields(before, update), updatedAt: update.now };
  const isChanged = COLUMNS.some((column) => after[column] !== before[column]);
  return isChanged ? after : before;
}

const COLUMNS = ['email', ...TEXT_FIELD_NAMES, 'unsubscribed', 'properties', 'topics'] as const;

/**
 * Returns the fields without those that would subscribe an existing contact again. Adding a contact a second time does not
 * override its own decision to unsubscribe or to opt out of a topic.
 */
export function withoutReturning(before: ContactRow, fields: ContactFields): ContactFields {
  const { unsubscribed, topics, email: _, ...rest } = fields;
  const isReturning = unsubscribed === false && before.unsubscribed === 1;
  return {
    ...rest,
    ...(unsubscribed !== undefined && !isReturning && { unsubscribed }),
    ...(topics && { topics: withoutOptingIn(readChoices(before.topics), topics) }),
  };
}

/**
 * Returns a new contact with what the reader of its address has decided before: adding an address again brings nobody
 * back who has left.
 */
export function withDecision(contact: ContactRow, decision: Choices): ContactRow {
  const { [ALL_TOPICS]: all, ...topics } = decision;
  const left = Object.entries(topics).filter(([, optedIn]) => !optedIn);
  if (all !== false && left.length === 0) return contact;
  return {
    ...contact,
    ...(all === false && { unsubscribed: 1, unsubscribedAt: contact.unsubscribedAt ?? contact.createdAt }),
    ...(left.length > 0 && {
      topics: JSON.stringify({ ...readChoices(contact.topics), ...Object.fromEntries(left) }),
    }),
  };
}

function withoutOptingIn(before: Choices, topics: Choices): Choices {
  return Object.fromEntries(Object.entries(topics).filter(([id, optIn]) => !(optIn && before[id] === false)));
}

function withFields(before: ContactRow, { fields, now, topicIds }: ContactUpdate): ContactRow {
  const { email = before.email, unsubscribed = before.unsubscribed === 1, properties, topics } = fields;
  return {
    ...before,
    email,
    ...givenTexts(fields),
    ...(email !== before.email && { address: contactAddress(email) }),
    unsubscribed: unsubscribed ? 1 : 0,
    unsubscribedAt: unsubscribed ? (before.unsubscribedAt ?? now) : null,
    ...(properties && { properties: mergeProperties(before.properties, properties) }),
    ...(topics && { topics: mergeChoices(before.topics, topics, topicIds) }),
  };
}

/** Merges properties as entries rather than by assignment, so that `__proto__` is a key like any other. */
function mergeProperties(
  before: string,
  changes: Exclude<ContactFields['properties'], undefined>,
): ContactRow['properties'] {
  const merged = new Map<string, PropertyValue>(Object.entries(readProperties(before)));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  if (merged.size > MAX_PROPERTIES)
    throw invalid(
      'properties',
      `A contact may have at most ${MAX_PROPERTIES} properties; this one would have ${merged.size}`,
    );
  const json = JSON.stringify(Object.fromEntries(merged));
  if (Buffer.byteLength(json) > MAX_PROPERTIES_BYTES)
    throw invalid(
      'properties',
      `The properties of a contact may take at most ${MAX_PROPERTIES_BYTES} bytes of JSON together`,
    );
  return json;
}

/** Merges choices of topics. Choices of deleted topics are dropped, because they would pile up. */
function mergeChoices(before: string, changes: Choices, topicIds: ReadonlySet<string>): ContactRow['topics'] {
  return JSON.stringify(onlyOf(topicIds, { ...readChoices(before), ...changes }));
}

/** Returns the choices of the given topics. */
export function onlyOf(topicIds: ReadonlySet<string>, choices: Choices): Choices {
  return Object.fromEntries(Object.entries(choices).filter(([id]) => topicIds.has(id)));
}

/** Parses the properties of a row. */
export function readProperties(json: ContactRow['properties']): Record<string, PropertyValue> {
  return JSON.parse(json) as Record<string, PropertyValue>;
}
