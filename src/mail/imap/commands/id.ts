/** ID (RFC 2971): the client and the server name their programs. */
import { bad } from '../command-error.ts';
import { writeString } from '../encode/strings.ts';
import type { Cursor } from '../parser/cursor.ts';
import { defineCommand, sendUntagged } from './command.ts';

/** Limits of RFC 2971 section 3.3. */
const MAX_FIELDS = 30;
const MAX_NAME_OCTETS = 30;
const MAX_VALUE_OCTETS = 1_024;

export const id = defineCommand({
  name: 'ID',
  states: 'any',
  parse: parseFields,
  async run(connection, fields) {
    if (connection.session) connection.client = { ...connection.client, id: fields };
    const own = Object.entries(connection.context.options.id ?? {});
    const values = own.flat().map((text) => writeString(text, '7bit'));
    sendUntagged(connection, `ID ${values.length > 0 ? `(${values.join(' ')})` : 'NIL'}`);
    return undefined;
  },
});

/** Returns the fields by their names in lower case. One without a value is left out. */
function parseFields(cursor: Cursor): Record<string, string> {
  cursor.space();
  const fields: [string, string][] = [];
  let names = 0;
  if (cursor.isAtList) {
    cursor.list(() => {
      const name = cursor.string().toLowerCase();
      cursor.space();
      const value = cursor.nstring();
      if (++names > MAX_FIELDS) bad(`ID has at most ${MAX_FIELDS} fields`, 'LIMIT');
      if (Buffer.byteLength(name) > MAX_NAME_OCTETS)
        bad(`The name of a field has at most ${MAX_NAME_OCTETS} octets`, 'LIMIT');
      if (value !== undefined && Buffer.byteLength(value) > MAX_VALUE_OCTETS)
        bad(`The value of a field has at most ${MAX_VALUE_OCTETS} octets`, 'LIMIT');
      if (value !== undefined) fields.push([name, value]);
    });
  } else if (cursor.nstring() !== undefined) bad('ID needs a list or NIL');
  cursor.end();
  return Object.fromEntries(fields);
}
