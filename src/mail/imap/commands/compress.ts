/** COMPRESS (RFC 4978 section 3). */

import { ConnectionFault } from '../../access/fault.ts';
import { attachWire } from '../attach-wire.ts';
import { COMPRESS_DEFLATE } from '../capabilities.ts';
import { bad } from '../command-error.ts';
import { CompressedStream } from '../compress.ts';
import { currentCapabilities } from './capability.ts';
import { type Connection, defineCommand } from './command.ts';

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
    if (connection.compression) bad('Compression is active already');
    if (!currentCapabilities(connection).split(' ').includes(COMPRESS_DEFLATE))
      bad('Compression is not available');
    return { text: 'DEFLATE active', afterwards: async () => begin(connection) };
  },
});

/** Everything that follows the completion of the command is compressed, in both directions. */
function begin(connection: Connection): void {
  const { wire, socket } = connection;
  wire.detach();
  connection.compression = new CompressedStream(socket, () =>
    connection.wire.interrupt(new ConnectionFault('compression', 'The compressed data is malformed')),
  );
  attachWire(connection, connection.compression);
  // A change may have signalled the wire before this one.
  connection.wire.signal();
}
