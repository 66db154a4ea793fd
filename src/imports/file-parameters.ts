/** Parameters of the requests that begin an import, as far as they describe the format of its file. */
import { Type } from 'typebox';
import { ENCODINGS } from './encoding.ts';

/** Maximum length of a mapping, which stands in the request line. */
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
