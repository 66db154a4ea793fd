/**
 * IDLE (RFC 9051 section 6.3.13): reports changes at once, until the client sends DONE. A client in IDLE is never ended for being
 * idle.
 */

import { ConnectionFault } from '../../access/fault.ts';
import { bad } from '../command-error.ts';
import { type ChangeKind, type Chunks, isRefusal, type Reporting } from '../session.ts';
import {
  accountOf,
  type Connection,
  defineCommand,
  noArguments,
  type Result,
  responseText,
  sendChunks,
  sendUntagged,
} from './command.ts';

/** Maximum length of a line in IDLE. A longer one is not DONE. Our own limit. */
const MAX_LINE_OCTETS = 8_192;

export const idle = defineCommand({
  name: 'IDLE',
  states: 'authenticated',
  parse: noArguments,
  async run(connection) {
    const { wire, context } = connection;
    const unwatch = accountOf(connection).watch(() => wire.signal());
    wire.send('+ idling\r\n');
    try {
      await sendChanges(connection, 'idle');
      for (;;) {
        connection.compression?.rest();
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

/**
 * Sends the answer of FETCH, STORE or SEARCH, and then changes. They come with the answer, unless the client first has to be told of what
 * happened elsewhere in the account.
 */
export async function sendWithChanges(
  connection: Connection,
  kind: ChangeKind,
  call: (reporting: Reporting) => Chunks,
): Promise<Result> {
  const { features, pushes } = connection;
  if (!features.metadata && !pushes) return await sendChunks(connection, call({ thenChanges: kind }));
  const result = await sendChunks(connection, call({}));
  if (!(isRefusal(result) && result.refused === 'BYE')) await sendChanges(connection, kind);
  return result;
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
