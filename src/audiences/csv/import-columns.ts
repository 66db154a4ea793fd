/**
 * Decides which column of a file of contacts has which field: the mapping of the request first, then our own headings, then the
 * names that other products use. Every other column becomes a property, whose name is folded from the heading.
 */

import type { ColumnUse } from '../../imports/handler.ts';
import {
  badHeading,
  chooseColumn,
  chooseEmailColumn,
  type Heading,
  quote,
  ranksOf,
  readHeadingLine,
  twoColumns,
} from '../../imports/headings.ts';
import type { Mapping } from '../../imports/mapping.ts';
import { EMAIL_NAMES, NAME_NAMES } from '../../imports/products/field-names.ts';
import { PROPERTY_KEY } from '../contacts/fields.ts';
import { uniquePropertyKey } from '../contacts/property-keys.ts';
import { forTextFields, TEXT_FIELD_NAMES, TEXT_FIELDS, type TextFieldName } from '../contacts/text-fields.ts';
import {
  type ConsentColumn,
  findConsent,
  givenConsent,
  isAboutConsent,
  isConsentKind,
} from './import-standing.ts';

export type KeyedColumn = { key: string; column: number };

/**
 * A column is watched for words that tell of a reader who has left, unless the request or our own heading says that it is a property, or
 * the heading is known to be about something else.
 */
type PropertyColumn = KeyedColumn & { heading: string; isWatched: boolean };

export type ContactColumns = {
  email: number;
  texts: Record<TextFieldName, number | undefined>;
  /** Column of the whole name; undefined when the file has the two names. */
  name: number | undefined;
  pending: number | undefined;
  consent: readonly ConsentColumn[];
  topics: readonly KeyedColumn[];
  properties: readonly PropertyColumn[];
  isHeadless: boolean;
  uses: readonly ColumnUse[];
};

const EMAIL_RANKS = ranksOf(EMAIL_NAMES);
const TEXT_RANKS = forTextFields((name) => ranksOf(TEXT_FIELDS[name].headings));
const NAME_RANKS = ranksOf(NAME_NAMES);
const PENDING_RANKS = ranksOf(['pending']);

/** The fields that a mapping can give, for errors and the document. */
export const CONTACT_FIELDS =
  `${['email', ...TEXT_FIELD_NAMES].map((name) => `\`${name}\``).join(', ')}, ` +
  '`name`, `status`, `subscribed`, `unsubscribed`, `unsubscribedAt`, `pending`, `topics.<id>`, `properties.<key>`';

const FIELDS: readonly string[] = ['email', ...TEXT_FIELD_NAMES, 'name', 'pending'];
const KEY = new RegExp(PROPERTY_KEY);

/** Returns true for a field that a mapping can give. */
export function isContactField(field: string): boolean {
  if (field.startsWith('properties.')) return KEY.test(field.slice('properties.'.length));
  return FIELDS.includes(field) || isConsentKind(field) || field.startsWith('topics.');
}

/**
 * Returns the columns of a file. `cells` are its first record.
 * @throws AppError validation_error for a heading line that cannot be used
 */
export function readContactColumns(cells: readonly string[], mapping: Mapping | undefined): ContactColumns {
  const line = readHeadingLine(cells, mapping, EMAIL_RANKS);
  const fields = new Map<Heading, string | null>();
  for (const heading of line.headings) {
    const field = heading.mapped === undefined ? prefixedField(heading) : heading.mapped;
    if (field !== undefined) fields.set(heading, field);
  }
  const open = line.headings.filter((heading) => !fields.has(heading) || heading.mapped !== undefined);
  const email = chooseEmailColumn({ ...line, headings: open }, EMAIL_RANKS, isAboutConsent);
  fields.set(email, 'email');
  chooseTexts(open, fields);
  const pending = chooseColumn(open, 'pending', PENDING_RANKS);
  if (pending) fields.set(pending, 'pending');
  const consent = line.headings.flatMap((heading) => {
    const field = fields.get(heading);
    const found = field === undefined ? findConsent(heading) : consentOf(heading, field);
    if (found && !found.isAmbiguous) fields.set(heading, found.kind);
    return found ? [found] : [];
  });
  nameProperties(line.headings, fields);
  return { ...toColumns(line.headings, fields), consent, isHeadless: line.isHeadless };
}

const PREFIXES = ['properties', 'topics'] as const;

/** Returns the field of a heading such as `topics.top_…` or `properties.plan`; undefined for any other heading. */
function prefixedField({ text }: Heading): string | undefined {
  for (const prefix of PREFIXES) {
    const dotted = `${prefix}.`;
    if (!text.toLowerCase().startsWith(dotted)) continue;
    const key = text.slice(dotted.length);
    if (prefix === 'topics' || KEY.test(key)) return `${prefix}.${key}`;
    throw badHeading(
      `\`${quote(text)}\` cannot be a property: its name must be 1 to 64 letters, digits and underscores`,
    );
  }
  return undefined;
}

/** A whole name beside one of the two names is the other one; beside both it is a property. */
function chooseTexts(open: readonly Heading[], fields: Map<Heading, string | null>): void {
  const chosen = forTextFields((name) => chooseColumn(open, name, TEXT_RANKS[name]));
  const whole = chooseColumn(open, 'name', NAME_RANKS);
  for (const name of TEXT_FIELD_NAMES) if (chosen[name]) fields.set(chosen[name], name);
  const { firstName, lastName } = chosen;
  if (!whole) return;
  if (whole.mapped === 'name' || (!firstName && !lastName)) fields.set(whole, 'name');
  else if (!firstName) fields.set(whole, 'firstName');
  else if (!lastName) fields.set(whole, 'lastName');
}

function consentOf(heading: Heading, field: string | null): ConsentColumn | undefined {
  if (field === null || !isConsentKind(field)) return undefined;
  return givenConsent(heading, field);
}

/**
 * Gives the remaining columns the names of properties.
 * @throws AppError validation_error for a column without a heading, and for a field that two columns have
 */
function nameProperties(headings: readonly Heading[], fields: Map<Heading, string | null>): void {
  const given = new Map<string, Heading>();
  for (const [heading, field] of fields) {
    if (field === null || isConsentKind(field)) continue;
    const earlier = given.get(field);
    if (earlier) throw twoColumns(earlier, heading);
    given.set(field, heading);
  }
  const taken = new Set(given.keys());
  const lastNamed = headings.findLastIndex(({ text }) => text !== '');
  for (const heading of headings) {
    if (fields.has(heading)) continue;
    // Spreadsheets write empty columns behind the last one that was used.
    if (heading.text === '' && heading.column < lastNamed) {
      throw badHeading(
        `Column ${heading.column + 1} has no heading; \`mapping\` can name it by its number, or leave it out`,
      );
    }
    const clash = given.get(`properties.${heading.text}`);
    if (clash) throw twoColumns(...inOrder(clash, heading));
    const field = `properties.${uniquePropertyKey(heading, (key) => taken.has(`properties.${key}`))}`;
    taken.add(field);
    fields.set(heading, field);
  }
}

function inOrder(one: Heading, other: Heading): [Heading, Heading] {
  return one.column < other.column ? [one, other] : [other, one];
}

function toColumns(
  headings: readonly Heading[],
  fields: ReadonlyMap<Heading, string | null>,
): Omit<ContactColumns, 'consent' | 'isHeadless'> {
  const columnOf = (field: string) => headings.find((heading) => fields.get(heading) === field)?.column;
  const keyed = (prefix: (typeof PREFIXES)[number]) =>
    headings.flatMap((heading) => {
      const field = fields.get(heading);
      if (!field?.startsWith(`${prefix}.`)) return [];
      return [{ key: field.slice(prefix.length + 1), heading }];
    });
  return {
    email: columnOf('email') ?? 0,
    texts: forTextFields(columnOf),
    name: columnOf('name'),
    pending: columnOf('pending'),
    topics: keyed('topics').map(({ key, heading }) => ({ key, column: heading.column })),
    properties: keyed('properties').map(({ key, heading }) => ({
      key,
      column: heading.column,
      heading: heading.text,
      isWatched:
        heading.mapped === undefined && prefixedField(heading) === undefined && !isAboutConsent(heading),
    })),
    uses: headings.map((heading) => ({ heading: heading.text, field: fields.get(heading) ?? null })),
  };
}
