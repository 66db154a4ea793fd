/** GETMETADATA and SETMETADATA (RFC 5464 sections 4.2 and 4.3). */
import { CommandError } from '../command-error.ts';
import { MAX_VALUE_OCTETS } from '../metadata.ts';
import { parseMetadataQuery, parseMetadataSetting, VALUE_TOO_LARGE } from '../parser/metadata.ts';
import { accountOf, defineCommand, sendChunks, textForm } from './command.ts';

/** Entry of the server that no client can change (RFC 5464 section 3.2.1.1). */
const READ_ONLY = '/shared/admin';

export const getMetadata = defineCommand({
  name: 'GETMETADATA',
  states: 'authenticated',
  parse: (cursor, connection) => parseMetadataQuery(cursor, textForm(connection)),
  run: async (connection, query) => await sendChunks(connection, accountOf(connection).getMetadata(query)),
});

export const setMetadata = defineCommand({
  name: 'SETMETADATA',
  states: 'authenticated',
  literals: { maxOctets: MAX_VALUE_OCTETS, code: VALUE_TOO_LARGE },
  parse: (cursor, connection) => parseMetadataSetting(cursor, textForm(connection)),
  async run(connection, { mailbox, entries }) {
    if (mailbox === '' && entries.some(({ entry }) => entry.toLowerCase() === READ_ONLY))
      throw new CommandError('NO', `${READ_ONLY} cannot be changed`, 'NOPERM');
    return await accountOf(connection).setMetadata(mailbox, entries);
  },
});
