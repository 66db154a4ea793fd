/**
 * The fields of a contact as a caller gives them, by the API or in a file: what they must be (specification 2.6, api.md
 * 1.6 and 1.10), and the form they are kept in.
 */
import { addressKey, explainRefusal, parseMailbox } from '../../mail/address.ts';
import { type AppError, invalid, readAll, readEach } from '../../system/errors.ts';
import { isId } from '../../system/ids.ts';

/** api.md 1.10, as all that follows. */
export const MAX_NAME_CHARACTERS = 200;
export const PROPERTY_KEY = '^[A-Za-z0-9_]{1,64}$';
export const MAX_VALUE_CHARACTERS = 2_000;

export type PropertyValue = string | number | boolean;

/** What is absent was not said. Null empties a name and deletes a property. */
export type ContactBody = {
  email?: string;
  firstName?: string | null;
  lastName?: string | null;
  unsubscribed?: boolean;
  properties?: Readonly<Record<string, PropertyValue | null>>;
  topics?: readonly { id: string; subscription: 'opt_in' | 'opt_out' }[];
};

/** The same, checked. */
export type ContactFields = Omit<ContactBody, 'properties' | 'topics'> & {
  properties?: Record<string, PropertyValue | null>;
  /** Topic id to whether the contact opted in; that there is such a topic is not checked. */
  topics?: Record<string, boolean>;
};

type WithEmail = { email: string };

/** @throws AppError validation_error naming the field: `properties.color`, `topics[1].id` */
export function readContactFields(body: ContactBody & WithEmail): ContactFields & WithEmail;
export function readContactFields(body: ContactBody): ContactFields;
export function readContactFields(body: ContactBody): ContactFields {
  const { email, firstName, lastName, unsubscribed, properties, topics } = body;
  return {
    ...readAll({
      ...(email !== undefined && { email: () => readEmail(email) }),
      ...(firstName !== undefined && { firstName: () => readName('firstName', firstName) }),
      ...(lastName !== undefined && { lastName: () => readName('lastName', lastName) }),
      ...(properties !== undefined && { properties: () => readProperties(properties) }),
      ...(topics !== undefined && { topics: () => readTopics(topics) }),
    }),
    ...(unsubscribed !== undefined && { unsubscribed }),
  };
}

/** As it was given, but for the spaces around it: what `contactAddress` takes. */
function readEmail(text: string): string {
  contactAddress(text);
  return text.replace(/^ +| +$/g, '');
}

/**
 * What makes two spellings of an address one contact: its `addressKey`, the domain in A-labels.
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

/** The same; undefined for what is no bare address: a contact has names of its own, so none stands before it. */
export function findAddress(email: string): string | undefined {
  const mailbox = /> *$/.test(email) ? undefined : parseMailbox(email);
  return mailbox && addressKey(mailbox.address);
}

function readName(field: string, name: string | null): string | null {
  return name === null ? null : readText(field, name, MAX_NAME_CHARACTERS);
}

/** C0 and DEL. */
const CONTROL_CHARACTER = /[^\P{Cc}\u0080-\u009f]/u;

function readText(field: string, text: string, mostCharacters: number): string {
  if (CONTROL_CHARACTER.test(text))
    throw invalid(field, `\`${field}\` must not contain line breaks or control characters`);
  if (!text.isWellFormed()) throw invalid(field, `\`${field}\` must be well-formed Unicode`);
  if (countCharacters(text, mostCharacters) > mostCharacters)
    throw invalid(field, `\`${field}\` must be at most ${mostCharacters} characters`);
  return text;
}

/** One for each code point, as JSON Schema counts; a text far too long is not counted to its end. */
function countCharacters(text: string, enough: number): number {
  if (text.length <= enough || text.length > 2 * enough) return text.length;
  return [...text].length;
}

const KEY = new RegExp(PROPERTY_KEY);

/** Any legal key is one of the caller's own, `__proto__` too: entries are only ever listed and put together again. */
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

/** A JSON number is a double (RFC 8259 6): of a larger integer the last digits would be lost, and nobody told. */
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
      throw invalid(`topics[${index}].id`, `\`topics[${index}].id\` names a topic for the second time`);
    choices.set(id, subscription === 'opt_in');
  });
  return Object.fromEntries(choices);
}

/** The same whatever makes it unknown. `index`: in the list of `topics`. */
export function unknownTopic(index: number): AppError {
  return invalid(`topics[${index}].id`, `\`topics[${index}].id\` is not the id of one of your topics`);
}
