/** Options of an import that describe the format of its file. The request gives them, and the job stores them. */
import { Type } from 'typebox';
import type { JobRow } from '../db/marketing-tables.ts';
import { ENCODINGS, type FileEncoding } from './encoding.ts';
import { type Mapping, readMapping } from './mapping.ts';

/** Absent values are found out from the file itself. Jobs of earlier versions have none. */
export type FileOptions = { encoding?: FileEncoding; mapping?: Mapping };

/** Maximum length of a mapping, which stands in the request line. Our own limit. */
const MAX_MAPPING_CHARACTERS = 8_000;

/** Returns the parameters that imports of all lists have in common. `fields` names the fields of the list. */
export function fileParameters(fields: string) {
  return {
    mapping: Type.Optional(
      Type.String({
        maxLength: MAX_MAPPING_CHARACTERS,
        description: `Fields of columns, as a JSON object such as \`{"Mail":"email","3":null}\`. A key is a heading, or the number of a column counted from 1. A value is a field (${fields}), or null to leave the column out. It wins over the known headings.`,
      }),
    ),
    encoding: Type.Optional(
      Type.Enum([...ENCODINGS], {
        description:
          'Encoding of the file. Without it, the file is UTF-8 or UTF-16 with a byte order mark, and otherwise Windows-1252.',
      }),
    ),
    preview: Type.Optional(
      Type.Boolean({
        description:
          'True imports nothing, and returns how the file would be read: its columns, its first rows, and warnings.',
      }),
    ),
  };
}

/**
 * Reads the options from the parameters of a request.
 * @throws AppError validation_error naming `mapping`
 */
export function readFileParameters(
  { mapping: text, encoding }: { mapping?: string; encoding?: FileEncoding },
  isField: (field: string) => boolean,
  fields: string,
): FileOptions {
  const mapping = readMapping(text, isField, fields);
  return { ...(mapping && { mapping }), ...(encoding && { encoding }) };
}

/** Returns the format of the file of a job. */
export function readFileOptions({ options }: Pick<JobRow, 'options'>): FileOptions {
  return JSON.parse(options) as FileOptions;
}
