/**
 * Checks the fields of a contact that a caller gives, by the API or in a file (specification 2.6), and brings them into
 * the form that is stored.
 */

import { readAll, readEach } from '../../http/json/read-fields.ts';
import { addressKey, explainRefusal, parseMailbox } from '../../mail/address.ts';
import { type AppError, invalid } from '../../system/errors.ts';
import { isId } from '../../system/ids.ts';
import { forTextFields, givenTexts, TEXT_FIELDS, type TextFieldName, type Texts } from './text-fields.ts';

/** Pattern of the key of a property. Merge tags and headings of files can name such a key without quotes. */
export const PROPERTY_KEY = '^[A-Za-z0-9_]{1,64}$';
/** Maximum length of a property that is a string. */
export const MAX_VALUE_CHARACTERS = 2_000;

export type PropertyValue = string | number | boolean;

/** Fields of a contact as a caller gives them. A field that is absent stays; null empties a name or deletes a property. */
export type ContactBody = {
  email?: string;
  unsubscribed?: boolean;
  properties?: Readonly<Record<string, PropertyValue | null>>;
  topics?: readonly { id: string; subscription: 'opt_in' | 'opt_out' }[];
} & Partial<Texts>;

/** Fields of a contact after they were checked. */
export type ContactFields = Omit<ContactBody, 'properties' | 'topics'> & {
  properties?: Record<string, PropertyValue | null>;
  /** Choices by the id of the topic; true means opted in. Nothing has checked that the topics exist. */
  topics?: Record<string, boolean>;
};

type WithEmail = { email: string };

/**
 * Returns the checked fields of a contact.
 * @throws AppError validation_error naming each wrong field, such as `properties.color` or `topics[1].id`
 */
export function readContactFields(body: ContactBody & WithEmail): ContactFields & WithEmail;
export function readContactFields(body: ContactBody): ContactFields;
export function readContactFields(body: ContactBody): ContactFields {
  const { email, unsubscribed, properties, topics } = body;
  return {
    ...readAll({
      ...(email !== undefined && { email: () => readEmail(email) }),
      ...givenTexts(forTextFields((name) => textReader(name, body[name]))),
      ...(properties !== undefined && { properties: () => readProperties(properties) }),
      ...(topics !== undefined && { topics: () => readTopics(topics) }),
    }),
    ...(unsubscribed !== undefined && { unsubscribed }),
  };
}

/** Returns the address in its given spelling, without spaces around it. */
function readEmail(text: string): string {
  contactAddress(text);
  return text.replace(/^ +| +$/g, '');
}

/**
 * Returns the `addressKey` of an address, its domain in A-labels. Two spellings with the same key are one contact.
 * @throws AppError validation_error naming `email`
 */
export function contactAddress(email: string): string {
  const address = findAddress(email);
  if (address !== undefined) return address;
  throw invalid(
    'email',
    `\`email\` ${explainRefusal(email) ?? 'must be one address such as ada@example.com'}`,
  );
}

/**
 * Returns the `addressKey` of an address, or undefined when the text is not a bare address. A display name is refused,
 * because a contact has fields for its names.
 */
export function findAddress(email: string): string | undefined {
  const mailbox = /> *$/.test(email) ? undefined : parseMailbox(email);
  return mailbox && addressKey(mailbox.address);
}

function textReader(name: TextFieldName, value: string | null | undefined) {
  if (value === undefined) return undefined;
  return () => (value === null ? null : readText(name, value, TEXT_FIELDS[name].maxCharacters));
}

/** Control characters of ASCII: C0 and DEL. */
const CONTROL_CHARACTER = /[^\P{Cc}\u0080-\u009f]/u;

function readText(field: string, text: string, maxCharacters: number): string {
  if (CONTROL_CHARACTER.test(text))
    throw invalid(field, `\`${field}\` must not contain line breaks or control characters`);
  if (!text.isWellFormed()) throw invalid(field, `\`${field}\` must be well-formed Unicode`);
  if (countCharacters(text, maxCharacters) > maxCharacters)
    throw invalid(field, `\`${field}\` must be at most ${maxCharacters} characters`);
  return text;
}

/** Counts code points, as JSON Schema does. Text that is certainly short enough or too long is not counted. */
function countCharacters(text: string, maxCharacters: number): number {
  if (text.length <= maxCharacters || text.length > 2 * maxCharacters) return text.length;
  return [...text].length;
}

const KEY = new RegExp(PROPERTY_KEY);

/** Checks properties. Every legal key is allowed, `__proto__` too, because properties are only handled as entries. */
function readProperties(
  properties: Readonly<Record<string, PropertyValue | null>>,
): Record<string, PropertyValue | null> {
  const entries = readEach(Object.entries(properties), ([key, value]) => {
    if (!KEY.test(key))
      throw invalid('properties', 'The key of a property must be 1 to 64 letters, digits and underscores');
    return [key, readValue(`properties.${key}`, value)] as const;
  });
  return Object.fromEntries(entries);
}

function readValue(field: string, value: PropertyValue | null): PropertyValue | null {
  switch (typeof value) {
    case 'string':
      return readText(field, value, MAX_VALUE_CHARACTERS);
    case 'number':
      return readNumber(field, value);
    case 'boolean':
      return value;
    default:
      if (value === null) return null;
      throw invalid(field, `\`${field}\` must be a string, a number or a boolean`);
  }
}

/** Refuses integers that a double cannot hold (RFC 8259 section 6), because their last digits would be lost silently. */
function readNumber(field: string, value: number): number {
  if (!Number.isFinite(value)) throw invalid(field, `\`${field}\` must be a finite number`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw invalid(
      field,
      `\`${field}\` is an integer beyond ${Number.MAX_SAFE_INTEGER}, which loses digits; send it as a string`,
    );
  return value;
}

function readTopics(topics: Exclude<ContactBody['topics'], undefined>): Record<string, boolean> {
  const choices = new Map<string, boolean>();
  readEach(topics, ({ id, subscription }, index) => {
    if (!isId('top', id)) throw unknownTopic(index);
    if (choices.has(id))
      throw invalid(`topics[${index}].id`, `\`topics[${index}].id\` names the same topic as an earlier item`);
    choices.set(id, subscription === 'opt_in');
  });
  return Object.fromEntries(choices);
}

/**
 * Returns the refusal of an id in `topics` that names no topic, at that index of the list. The message does not say whether
 * another tenant has the topic.
 */
export function unknownTopic(index: number): AppError {
  return invalid(`topics[${index}].id`, `\`topics[${index}].id\` is not the id of one of your topics`);
}
