/** Puts the framing of commands on a socket, or on a stream on top of it. */
import type { Duplex } from 'node:stream';
import { commandPatience } from '../access/connection.ts';
import { type AccessPatience, openWire } from '../access/wire.ts';
import type { Connection } from './commands/command.ts';
import { Framing } from './framing.ts';

type Unattached = Omit<Connection, 'wire' | 'framing'>;

/** Gives the connection a wire and a framing for this stream, and returns it. */
export function attachWire(connection: Unattached, stream: Duplex): Connection {
  const wire = openWire(connection.context.clock, stream);
  const attached = Object.assign(connection, { wire });
  const framing = new Framing({
    read: (purpose) => wire.read(patienceFor(attached, purpose)),
    unread: (bytes) => wire.unread(bytes),
    requestLiteral: () => wire.send('+ OK\r\n'),
  });
  return Object.assign(attached, { framing });
}

function patienceFor(
  connection: Omit<Connection, 'framing'>,
  purpose: 'command' | 'message',
): AccessPatience {
  const hasLoggedIn = connection.state.name !== 'not authenticated';
  if (purpose === 'command' || !hasLoggedIn) return commandPatience(connection, { hasLoggedIn });
  return { timeoutMs: connection.context.limits.dataBlockMs, reason: 'slow_data' };
}
