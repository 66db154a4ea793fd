/** Puts the framing of commands on a socket, or on a stream on top of it. */
import type { Duplex } from 'node:stream';
import type { Connection } from './commands/command.ts';
import { Framing } from './framing.ts';
import { type Patience, Wire } from './wire.ts';

type Unattached = Omit<Connection, 'wire' | 'framing'>;

/** Gives the connection a wire and a framing for this stream, and returns it. */
export function attachWire(connection: Unattached, stream: Duplex): Connection {
  const wire = new Wire(connection.context.clock, stream);
  const framing = new Framing({
    read: (purpose) => wire.read(patienceFor(connection, purpose)),
    unread: (bytes) => wire.unread(bytes),
    requestLiteral: () => wire.send('+ OK\r\n'),
  });
  return Object.assign(connection, { wire, framing });
}

/** A client has a minute for all that it does before its login, and then long times between commands. */
function patienceFor(connection: Unattached, purpose: 'command' | 'message'): Patience {
  const { limits, clock } = connection.context;
  if (connection.state.name === 'not authenticated') {
    const timeoutMs = Math.max(0, connection.beganAt + limits.loginMs - clock.elapsed());
    return { timeoutMs, reason: 'login_time' };
  }
  return purpose === 'command'
    ? { timeoutMs: limits.commandMs, reason: 'idle' }
    : { timeoutMs: limits.dataBlockMs, reason: 'slow_data' };
}
