/**
 * IDLE (RFC 9051 section 6.3.13): reports changes at once, until the client sends DONE. A client in IDLE is never ended for being
 * idle.
 */

import { ConnectionFault } from '../../access/fault.ts';
import { bad } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import { type ChangeKind, type Chunks, isRefusal } from '../session.ts';
import {
  accountOf,
  defineCommand,
  noArguments,
  responseText,
  sendChunks,
  sendUntagged,
  userOf,
} from './command.ts';

/** Maximum length of a line in IDLE. A longer one is not DONE. */
const MAX_LINE_OCTETS = 8_192;

export const idle = defineCommand({
  name: 'IDLE',
  states: 'authenticated',
  parse: noArguments,
  async run(connection) {
    const { wire, context, compression } = userOf(connection);
    const unwatch = accountOf(connection).watch(() => wire.signal());
    wire.send('+ idling\r\n');
    try {
      await sendChanges(connection, 'idle');
      for (;;) {
        compression?.rest();
        const event = await wire.waitForEvent(context.limits.keepAliveMs);
        if (event === 'input') break;
        if (event === 'timeout') sendUntagged(connection, 'OK Still here');
        // Results of searches can change by the time alone.
        await sendChanges(connection);
      }
    } finally {
      unwatch();
    }
    return await readDone(connection);
  },
});

/** Sends what the client was not told yet. */
export async function sendChanges(connection: Connection, kind: ChangeKind = 'all'): Promise<void> {
  const { state, features, pushes } = connection;
  if (state.name !== 'not authenticated' && (features.metadata || pushes))
    await sendReports(connection, state.account.accountChanges());
  if (state.name === 'selected') await sendReports(connection, state.selected.changes(kind));
}

/** Lets changes of this kind be reported between commands from now on. */
export function pushTo(connection: Connection, kind: ChangeKind): Connection['pushes'] {
  return { kind, unwatch: accountOf(connection).watch(() => connection.wire.signal()) };
}

async function sendReports(connection: Connection, reports: Chunks): Promise<void> {
  const end = await sendChunks(connection, reports);
  if (isRefusal(end)) throw new ConnectionFault('session', responseText(end));
}

async function readDone({ framing, wire }: Connection): Promise<undefined> {
  const line = await framing.readLine(MAX_LINE_OCTETS);
  if (line?.toString('latin1').trimEnd().toUpperCase() === 'DONE') return;
  // iOS sends its next command without DONE. The command ends IDLE and runs.
  if (line) wire.unread(Buffer.concat([line, Buffer.from('\r\n')]));
  bad('IDLE ends with DONE');
}
