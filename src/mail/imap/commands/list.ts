/** LIST (RFC 9051 section 6.3.9) and LSUB (RFC 3501 section 6.3.9). */

import type { Connection } from '../connection-state.ts';
import { SEPARATOR } from '../list-pattern.ts';
import { type ListArguments, parseList, parseLsub } from '../parser/list.ts';
import {
  accountOf,
  defineCommand,
  enableFeatures,
  type Result,
  sendChunks,
  sendUntagged,
  textForm,
} from './command.ts';

export const list = defineCommand({
  name: 'LIST',
  states: 'authenticated',
  parse: (cursor, connection) => parseList(cursor, textForm(connection)),
  run: runList,
});

export const lsub = defineCommand({
  name: 'LSUB',
  states: 'authenticated',
  parse: (cursor, connection) => parseLsub(cursor, textForm(connection)),
  run: runList,
});

async function runList(connection: Connection, { query, isRoot }: ListArguments): Promise<Result> {
  if (isRoot) {
    // The root of every name is empty.
    sendUntagged(connection, `${query.response} (\\Noselect) "${SEPARATOR}" ""`);
    return undefined;
  }
  if (query.return.status.includes('HIGHESTMODSEQ')) enableFeatures(connection, { condstore: true });
  if (query.patterns.length === 0) return undefined;
  const appendLimit = connection.context.limits.messageBytes;
  return await sendChunks(connection, accountOf(connection).list({ ...query, appendLimit }));
}
