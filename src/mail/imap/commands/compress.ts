/** COMPRESS (RFC 4978 section 3). */

import { ConnectionFault } from '../../access/fault.ts';
import type { UserNote } from '../../access/handover.ts';
import { attach } from '../attach.ts';
import { COMPRESS_DEFLATE } from '../capabilities.ts';
import { bad } from '../command-error.ts';
import { CompressedStream } from '../compress.ts';
import type { UserConnection } from '../connection-state.ts';
import { currentCapabilities } from './capability.ts';
import { defineCommand, userOf } from './command.ts';
import { pushTo } from './idle.ts';

export const compress = defineCommand({
  name: 'COMPRESS',
  states: 'authenticated',
  changes: 'none',
  parse(cursor) {
    cursor.space();
    if (cursor.atom().toUpperCase() !== 'DEFLATE') bad('DEFLATE is the only kind of compression');
    cursor.end();
  },
  async run(connection) {
    const user = userOf(connection);
    if (user.compression) bad('Compression is active already');
    if (!currentCapabilities(user).split(' ').includes(COMPRESS_DEFLATE)) bad('Compression is not available');
    return { text: 'DEFLATE active', next: async () => compressed(user) };
  },
});

/** Returns the connection with everything that follows compressed, in both directions. */
function compressed({ wire, stream, pushes, ...user }: UserConnection): UserConnection {
  wire.detach();
  pushes?.unwatch();
  const compression = new CompressedStream(stream, () =>
    connection.wire.interrupt(new ConnectionFault('compression', 'The compressed data is malformed')),
  );
  const connection: UserConnection = attach({ ...user, stream, compression, pushes: undefined }, compression);
  if (pushes) connection.pushes = pushTo(connection, pushes.kind);
  stream.postNote({ kind: 'compressed' } satisfies UserNote);
  // A change may have signalled the wire before this one.
  connection.wire.signal();
  return connection;
}
