/**
 * IDLE (RFC 9051 section 6.3.13): reports changes at once, until the client sends DONE. A client in IDLE is never ended for being
 * idle.
 */
import { ConnectionFault } from '../../access/fault.ts';
import { bad } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import { parseNotify } from '../parser/notify.ts';
import { type ChangeKind, type Chunks, isRefusal } from '../session.ts';
import {
  accountOf,
  type Command,
  defineCommand,
  noArguments,
  responseText,
  sendChunks,
  sendUntagged,
  textForm,
  userOf,
} from './command.ts';

/** Maximum length of a line in IDLE. A longer one is not DONE. */
const MAX_LINE_OCTETS = 8_192;

const idle = defineCommand({
  name: 'IDLE',
  states: 'authenticated',
  parse: noArguments,
  async run(connection) {
    const { wire, context, compression } = userOf(connection);
    wire.send('+ idling\r\n');
    if (context.limits.idleBeginMs > 0) await wire.waitForEvent(context.limits.idleBeginMs);
    const unwatch = accountOf(connection).watch(() => wire.signal());
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

/** NOTIFY (RFC 5465): the client is told at once of what it asks for, also between its commands. */
const notify = defineCommand({
  name: 'NOTIFY',
  states: 'authenticated',
  parse: (cursor, connection) => parseNotify(cursor, textForm(connection)),
  async run(connection, { request, isSet, isDelayed }) {
    // The client is told of changes until now in the way that it wanted before (RFC 5465 section 3.1).
    if (isSet) await sendChanges(connection);
    const account = accountOf(connection);
    const result = await sendChunks(connection, account.notify(request));
    if (isRefusal(result)) return result;
    connection.pushes?.unwatch();
    connection.pushes = isSet ? pushTo(connection, isDelayed ? 'withoutExpunge' : 'all') : undefined;
    return result;
  },
});

/** Commands that wait for changes. */
export const IDLE_COMMANDS: readonly Command[] = [idle, notify];
