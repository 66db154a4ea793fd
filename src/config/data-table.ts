/** Reads tables of data in YAML, such as config/replies.yaml. A mistake anywhere refuses the whole file, with the row and the field that are wrong. */
import { readFileSync, statSync } from 'node:fs';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse } from 'yaml';
import { errorCode, errorMessage } from '../system/errors.ts';

/** Maximum size of a file in bytes. The largest packaged table has about 60 KB. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Maximum number of aliases in a file. Lists are shared between rows by aliases. */
const MAX_ALIASES = 5_000;

/** Reports a table that cannot be used. The message is for the operator. */
export class DataTableError extends Error {
  override readonly name = 'DataTableError';
}

/** The schema of a field that holds one item or a list of them. */
export const oneOrMore = <Item extends TSchema>(item: Item) =>
  Type.Optional(Type.Union([item, Type.Array(item, { minItems: 1 })]));

/** Returns the items of such a field. */
export function listOf<Item>(value: Item | readonly Item[] | undefined): readonly Item[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Item];
}

/** Returns the path of a table: the operator's own file, or the one that comes with the program when `ownFile` is empty. */
export function tablePath(ownFile: string, packagedFile: string): string {
  return ownFile === '' ? packagedFile : ownFile;
}

/**
 * Returns the table of a file.
 * @throws DataTableError
 */
export function readTable<Table>(file: string, parseTable: (yaml: string) => Table): Table {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new DataTableError('is not a regular file');
    if (stats.size > MAX_FILE_BYTES) throw new DataTableError(`is larger than ${MAX_FILE_BYTES} bytes`);
    return parseTable(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = errorCode(error) === 'ENOENT' ? 'does not exist' : errorMessage(error);
    throw new DataTableError(`${file}: ${reason}`, { cause: error });
  }
}

/**
 * Returns the content of a table that has the shape of its schema.
 * @throws DataTableError
 */
export function parseShape<Schema extends TSchema>(schema: Schema, yaml: string): Static<Schema> {
  const value = read(yaml);
  const errors = [...Value.Errors(schema, value)];
  const [error] = errors.filter(({ keyword }) => keyword === 'additionalProperties').concat(errors);
  if (error) throw new DataTableError(`${placeOf(value, error.instancePath)} ${error.message}`);
  return value as Static<Schema>;
}

function read(yaml: string): unknown {
  try {
    return parse(yaml, { maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new DataTableError(errorMessage(error).split('\n', 1)[0] ?? '', { cause: error });
  }
}

/** Returns where a mistake is, with the id or the name of its row: `/vetoes/3/text` becomes `vetoes: row "your-ip": text`. */
function placeOf(file: unknown, path: string): string {
  const [section = '', index = '', ...field] = path.slice(1).split('/');
  const list = (file as Record<string, unknown> | null)?.[section];
  const row = Array.isArray(list)
    ? (list[Number(index)] as { id?: unknown; name?: unknown } | null | undefined)
    : undefined;
  if (row === undefined) return path === '' ? 'the file' : path.slice(1).replaceAll('/', '.');
  const name = row?.id ?? row?.name;
  const named = typeof name === 'string' ? `row "${name}"` : `row ${Number(index) + 1}`;
  return `${section}: ${named}:${field.length > 0 ? ` ${field.join('.')}` : ''}`;
}
