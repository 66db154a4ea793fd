/** What is said of a contact, put together with what is known of it. No SQL; contacts/store.ts writes what comes of it. */
import type { ContactRow } from '../../db/marketing-tables.ts';
import { invalid } from '../../system/errors.ts';
import { type ContactFields, contactAddress, type PropertyValue } from './fields.ts';

/** api.md 1.10. */
export const MAX_PROPERTIES = 100;
export const MAX_PROPERTIES_BYTES = 32 * 1024;

/** Topic id to whether the contact opted in. */
export type Choices = Record<string, boolean>;

export type Said = { fields: ContactFields; now: number; topicIds: ReadonlySet<string> };

/** @throws AppError validation_error */
export function newContact(
  key: Pick<ContactRow, 'id' | 'tenantId' | 'audienceId'> & { email: string },
  said: Said,
): ContactRow {
  const { id, tenantId, audienceId, email } = key;
  const blank: ContactRow = {
    id,
    tenantId,
    audienceId,
    email,
    address: contactAddress(email),
    firstName: null,
    lastName: null,
    unsubscribed: 0,
    unsubscribedAt: null,
    createdAt: said.now,
    updatedAt: said.now,
    topics: '{}',
    properties: '{}',
  };
  return withFields(blank, said);
}

/**
 * The contact with what was said of it: properties and choices of topics are merged key by key. It is `before` itself when
 * that changes nothing. @throws AppError validation_error for more properties than there may be
 */
export function mergeContact(before: ContactRow, said: Said): ContactRow {
  const after = { ...withFields(before, said), updatedAt: said.now };
  const isChanged = COLUMNS.some((column) => after[column] !== before[column]);
  return isChanged ? after : before;
}

const COLUMNS = ['email', 'firstName', 'lastName', 'unsubscribed', 'properties', 'topics'] as const;

/** Adding somebody again says nothing of what they have decided themselves: who left stays out (api.md 1.6). */
export function withoutReturning(before: ContactRow, fields: ContactFields): ContactFields {
  const { unsubscribed, topics, email: _, ...rest } = fields;
  const isReturning = unsubscribed === false && before.unsubscribed === 1;
  return {
    ...rest,
    ...(unsubscribed !== undefined && !isReturning && { unsubscribed }),
    ...(topics && { topics: withoutOptingIn(readChoices(before.topics), topics) }),
  };
}

function withoutOptingIn(before: Choices, topics: Choices): Choices {
  return Object.fromEntries(Object.entries(topics).filter(([id, optIn]) => !(optIn && before[id] === false)));
}

function withFields(before: ContactRow, { fields, now, topicIds }: Said): ContactRow {
  const { email = before.email, firstName = before.firstName, lastName = before.lastName } = fields;
  const { unsubscribed = before.unsubscribed === 1, properties, topics } = fields;
  return {
    ...before,
    email,
    firstName,
    lastName,
    ...(email !== before.email && { address: contactAddress(email) }),
    unsubscribed: unsubscribed ? 1 : 0,
    unsubscribedAt: unsubscribed ? (before.unsubscribedAt ?? now) : null,
    ...(properties && { properties: mergeProperties(before.properties, properties) }),
    ...(topics && { topics: mergeChoices(before.topics, topics, topicIds) }),
  };
}

/** Entries rather than assignments, so that `__proto__` is a key like any other. */
function mergeProperties(
  before: string,
  said: Exclude<ContactFields['properties'], undefined>,
): ContactRow['properties'] {
  const merged = new Map<string, PropertyValue>(Object.entries(readProperties(before)));
  for (const [key, value] of Object.entries(said)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  if (merged.size > MAX_PROPERTIES)
    throw invalid(
      'properties',
      `A contact may have ${MAX_PROPERTIES} properties; this one would have ${merged.size}`,
    );
  const json = JSON.stringify(Object.fromEntries(merged));
  if (Buffer.byteLength(json) > MAX_PROPERTIES_BYTES)
    throw invalid(
      'properties',
      `The properties of a contact may take ${MAX_PROPERTIES_BYTES} bytes of JSON together`,
    );
  return json;
}

/** Those of topics that were deleted are left behind, or they would pile up. */
function mergeChoices(before: string, said: Choices, topicIds: ReadonlySet<string>): ContactRow['topics'] {
  return JSON.stringify(onlyOf(topicIds, { ...readChoices(before), ...said }));
}

export function onlyOf(topicIds: ReadonlySet<string>, choices: Choices): Choices {
  return Object.fromEntries(Object.entries(choices).filter(([id]) => topicIds.has(id)));
}

/** Of a row. */
export function readProperties(json: ContactRow['properties']): Record<string, PropertyValue> {
  return JSON.parse(json) as Record<string, PropertyValue>;
}

/** Of a row. */
export function readChoices(json: ContactRow['topics']): Choices {
  return JSON.parse(json) as Choices;
}
