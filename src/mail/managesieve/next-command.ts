/** Reads the next command of a connection, within the limits of its state. */
import { commandPatience } from '../access/connection.ts';
import type { Connection } from './commands/command.ts';
import { type FramedCommand, readCommand } from './framing.ts';

/** Returns the next command, or the next answer of a login. @throws ConnectionFault; ClientGone */
export async function nextCommand(connection: Connection): Promise<FramedCommand> {
  const { wire, account, context } = connection;
  const hasLoggedIn = account !== undefined;
  const { commandBytes, earlyCommandBytes, discardedBytes } = context.limits;
  const source = {
    read: () => wire.read(commandPatience(connection, { hasLoggedIn })),
    unread: (bytes: Buffer) => wire.unread(bytes),
  };
  // A client without a login cannot make the server read what it then drops.
  if (!hasLoggedIn) return await readCommand(source, { commandBytes: earlyCommandBytes, discardedBytes: 0 });
  return await readCommand(source, { commandBytes, discardedBytes });
}
