/** CLOSE and UNSELECT (RFC 9051 sections 6.4.1 and 6.4.2): end the selection, with and without an EXPUNGE. */
import {
  type Command,
  type Connection,
  defineCommand,
  noArguments,
  type Result,
  selectedOf,
} from './command.ts';

export const close = closeCommand('CLOSE', true);
export const unselect = closeCommand('UNSELECT', false);

function closeCommand(name: string, expunge: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    changes: 'none',
    parse: noArguments,
    run: (connection) => end(connection, expunge),
  });
}

async function end(connection: Connection, expunge: boolean): Promise<Result> {
  const selected = selectedOf(connection);
  const { state } = connection;
  if (state.name !== 'selected') return undefined;
  const refusal = await selected.close({ expunge: expunge && !state.readOnly });
  if (!refusal) connection.state = { name: 'authenticated', account: state.account };
  return refusal;
}
