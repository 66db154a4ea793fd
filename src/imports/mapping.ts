/**
 * The mapping in a request: it says for columns of the file, by their heading or their number, which field they have. It wins over
 * everything that is known about headings.
 */
import { invalid } from '../system/errors.ts';
import { plainForm } from './plain-form.ts';

/** The field of each column; null leaves the column out. */
export type Mapping = Readonly<Record<string, string | null>>;

/** Maximum number of columns in a mapping, which is a part of the request line. */
const MAX_MAPPED_COLUMNS = 100;

/**
 * Reads the mapping of a request. `isField` says whether a field exists; `fields` lists the fields for the error.
 * @throws AppError validation_error
 */
export function readMapping(
  text: string | undefined,
  isField: (field: string) => boolean,
  fields: string,
): Mapping | undefined {
  if (text === undefined) return undefined;
  const entries = entriesOf(text);
  for (const [column, field] of entries) {
    if (field === null || (typeof field === 'string' && isField(field))) continue;
    throw invalid('mapping', `\`mapping\` gives \`${column}\` no field that exists: ${fields}, or null`);
  }
  return Object.fromEntries(entries) as Mapping;
}

function entriesOf(text: string): [string, unknown][] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('mapping', '`mapping` must be a JSON object such as {"Mail":"email","Notes":null}');
  const entries = Object.entries(value);
  if (entries.length > MAX_MAPPED_COLUMNS)
    throw invalid('mapping', `\`mapping\` must have at most ${MAX_MAPPED_COLUMNS} columns`);
  return entries;
}

/**
 * Returns the mapped field of columns. A key is the heading as the file has it, else a heading that differs only in case, accents and
 * punctuation, else the number of the column, counted from 1.
 * @throws AppError validation_error for a key that names no column, or more than one
 */
export function findMapped(
  mapping: Mapping | undefined,
  headings: readonly string[],
): ReadonlyMap<number, string | null> {
  const fields = new Map<number, string | null>();
  for (const [key, field] of Object.entries(mapping ?? {})) {
    const columns = columnsOf(key, headings);
    const [column] = columns;
    if (column === undefined || columns.length > 1) {
      const rule = columns.length > 1 ? 'more than one column' : 'no column';
      throw invalid(
        'mapping',
        `\`mapping\` names ${rule} of the file with \`${key}\`; a number is allowed, too`,
      );
    }
    fields.set(column, field);
  }
  return fields;
}

function columnsOf(key: string, headings: readonly string[]): number[] {
  const matching = (matches: (heading: string) => boolean) =>
    headings.flatMap((heading, column) => (heading !== '' && matches(heading) ? [column] : []));
  const exact = matching((heading) => heading === key.trim());
  if (exact.length > 0) return exact;
  const plain = plainForm(key);
  const similar = plain === '' ? [] : matching((heading) => plainForm(heading) === plain);
  if (similar.length > 0) return similar;
  const number = /^[1-9]\d{0,3}$/.test(key) ? Number(key) : 0;
  return number >= 1 && number <= headings.length ? [number - 1] : [];
}
