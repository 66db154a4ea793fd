/** Reads what a client sends: commands, and the answers to challenges. */
import { commandWaitLimit } from '../access/connection.ts';
import { readLine, takeLine } from '../access/read-line.ts';
import type { AccessWaitLimit } from '../access/wire.ts';
import type { Connection } from './connection-state.ts';

/** Returns the next line; undefined when it is too long. @throws ConnectionFault; ClientGone */
export async function readCommandLine(connection: Connection, maxBytes: number): Promise<Buffer | undefined> {
  const { wire } = connection;
  wire.throwIfInterrupted();
  const arrived = takeLine(wire, maxBytes);
  if (arrived) return arrived;
  const source = {
    read: () => wire.read(waitLimitFor(connection)),
    unread: (bytes: Buffer) => wire.unread(bytes),
  };
  const { bytes, isTooLong } = await readLine(source, maxBytes);
  return isTooLong ? undefined : bytes;
}

function waitLimitFor(connection: Connection): AccessWaitLimit {
  if (connection.session) return commandWaitLimit(connection, { hasLoggedIn: false });
  return { timeoutMs: connection.context.limits.commandMs, reason: 'idle' };
}
