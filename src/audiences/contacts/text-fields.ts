/**
 * The text fields of contacts. Each is described here once. Its name is that of the field in the API and in filters of segments, of the
 * column in the database and in exported files, and of the merge tag.
 */
import { FIRST_NAME_NAMES, LAST_NAME_NAMES } from '../../imports/products/field-names.ts';

type TextField = {
  maxCharacters: number;
  /** Headings of imported files that give the field. The first is our own, and an earlier one wins. */
  headings: readonly string[];
  /** Value in the examples of the documentation. */
  example: string;
};

/** Maximum length of a first or last name. */
const MAX_NAME_CHARACTERS = 200;

export const TEXT_FIELDS = {
  firstName: { maxCharacters: MAX_NAME_CHARACTERS, headings: FIRST_NAME_NAMES, example: 'Ada' },
  lastName: { maxCharacters: MAX_NAME_CHARACTERS, headings: LAST_NAME_NAMES, example: 'Lovelace' },
} as const satisfies Readonly<Record<string, TextField>>;

export type TextFieldName = keyof typeof TEXT_FIELDS;
export const TEXT_FIELD_NAMES = Object.keys(TEXT_FIELDS) as readonly TextFieldName[];

/** The first columns of an export. An import knows an exported file by them. */
export const EXPORTED_FIELDS: readonly string[] = ['email', ...TEXT_FIELD_NAMES, 'unsubscribed', 'pending'];

/** The values of a contact. */
export type Texts = Record<TextFieldName, string | null>;

/** Returns a value for each of the fields. */
export function forTextFields<Value>(valueFor: (name: TextFieldName) => Value): Record<TextFieldName, Value> {
  return Object.fromEntries(TEXT_FIELD_NAMES.map((name) => [name, valueFor(name)])) as Record<
    TextFieldName,
    Value
  >;
}

/** Returns those of the values that are given. */
export function givenTexts<Value>(values: { readonly [Name in TextFieldName]?: Value | undefined }): {
  [Name in TextFieldName]?: Value;
} {
  return Object.fromEntries(
    TEXT_FIELD_NAMES.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
}
