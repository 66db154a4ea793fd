/** Reads what a client sends: commands, and the answers to challenges. */
import { commandPatience } from '../access/connection.ts';
import { readLine, takeLine } from '../access/read-line.ts';
import type { Connection } from './commands/command.ts';

/** Returns the next line; undefined when it is too long. @throws ConnectionFault; ClientGone */
export async function readCommandLine(connection: Connection, maxBytes: number): Promise<Buffer | undefined> {
  const { wire, state } = connection;
  wire.throwIfInterrupted();
  const arrived = takeLine(wire, maxBytes);
  if (arrived) return arrived;
  const hasLoggedIn = state.name === 'transaction';
  const source = {
    read: () => wire.read(commandPatience(connection, { hasLoggedIn })),
    unread: (bytes: Buffer) => wire.unread(bytes),
  };
  const { bytes, isTooLong } = await readLine(source, maxBytes);
  return isTooLong ? undefined : bytes;
}
