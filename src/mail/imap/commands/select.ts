/** SELECT and EXAMINE (RFC 9051 sections 6.3.2 and 6.3.3). */

import { bad } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import { writeListed } from '../encode/mailboxes.ts';
import { parseMailbox, parseSelectParameters, type SelectParameters } from '../parser/list.ts';
import { isRefusal, type Selection } from '../session.ts';
import {
  accountOf,
  type Command,
  defineCommand,
  enableFeatures,
  type Result,
  sendChunks,
  sendUntagged,
  textForm,
} from './command.ts';

function selectCommand(name: string, readOnly: boolean): Command {
  return defineCommand({
    name,
    states: 'authenticated',
    // The responses to the command describe the new mailbox, and nobody asks about the old one.
    changes: 'none',
    parse(cursor, connection) {
      cursor.space();
      const mailbox = parseMailbox(cursor, textForm(connection));
      const parameters = parseSelectParameters(cursor);
      cursor.end();
      if (parameters.resync && !connection.features.qresync) bad('QRESYNC is not enabled');
      return { mailbox, ...parameters };
    },
    run: (connection, args) => open(connection, { ...args, readOnly }),
  });
}

async function open(
  connection: Connection,
  { mailbox, readOnly, condstore, resync }: SelectParameters & { mailbox: string; readOnly: boolean },
): Promise<Result> {
  const account = accountOf(connection);
  if (connection.state.name === 'selected') {
    connection.state = { name: 'authenticated', account };
    // Responses after this one are about the new mailbox (RFC 9051 section 7.1).
    sendUntagged(connection, 'OK [CLOSED] The previous mailbox is closed');
  }
  if (condstore) enableFeatures(connection, { condstore: true });
  const selection = await account.select(mailbox, { readOnly, condstore });
  if (isRefusal(selection)) return selection;
  connection.state = {
    name: 'selected',
    account,
    selected: selection.selected,
    readOnly: selection.readOnly,
  };
  describe(connection, selection);
  if (resync?.uidValidity === selection.uidValidity) await resynchronize(connection, selection, resync);
  return { noticed: selection.readOnly ? 'READ-ONLY' : 'READ-WRITE' };
}

function describe(connection: Connection, selection: Selection): void {
  const send = (response: string): void => sendUntagged(connection, response);
  send(`FLAGS (${selection.flags.join(' ')})`);
  send(`${selection.exists} EXISTS`);
  const { rev2 } = connection.features;
  // IMAP4rev2 has neither RECENT nor UNSEEN (RFC 9051 appendix E).
  if (!rev2) send(`${selection.recent} RECENT`);
  if (!rev2 && selection.firstUnseen !== undefined)
    send(`OK [UNSEEN ${selection.firstUnseen}] The first unseen message`);
  send(`OK [PERMANENTFLAGS (${selection.permanentFlags.join(' ')})] Flags that can be kept`);
  send(`OK [UIDVALIDITY ${selection.uidValidity}] UIDs are valid`);
  send(`OK [UIDNEXT ${selection.uidNext}] The next UID`);
  send(`OK [HIGHESTMODSEQ ${selection.highestModseq}] The highest modseq`);
  send(`OK [MAILBOXID (${selection.mailboxId})] The id of the mailbox`);
  if (!rev2) return;
  const form = textForm(connection);
  connection.wire.send(writeListed({ response: 'LIST', mailbox: selection.mailbox, attributes: [] }, form));
}

/** Tells what has changed since the client was here last, as UID FETCH would (RFC 7162 section 3.2.5.1). */
async function resynchronize(
  connection: Connection,
  { selected, uidNext }: Selection,
  { known, modseq }: NonNullable<SelectParameters['resync']>,
): Promise<void> {
  if (uidNext === 1) return;
  const items = [{ kind: 'UID' }, { kind: 'FLAGS' }, { kind: 'MODSEQ' }] as const;
  const set = known ?? [[1, uidNext - 1]];
  const query = { set, uid: true, items, changedSince: modseq, vanished: true, partial: undefined };
  await sendChunks(connection, selected.fetch(query));
}

/** Commands that select a mailbox. */
export const SELECT_COMMANDS: readonly Command[] = [
  selectCommand('SELECT', false),
  selectCommand('EXAMINE', true),
];
