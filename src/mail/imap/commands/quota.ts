/** GETQUOTA, GETQUOTAROOT and SETQUOTA (RFC 9208 section 4.1). All mailboxes of an account share one quota, whose root is empty. */
import { CommandError } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import { writeAstring } from '../encode/astring.ts';
import { encodeMailboxName } from '../encode/mailbox-name.ts';
import { parseMailboxOrServer } from '../parser/mailbox.ts';
import { isRefusal } from '../session.ts';
import { accountOf, defineCommand, type Result, sendUntagged, textForm } from './command.ts';

/** Octets of one unit of storage (RFC 9208 section 5.1). */
const UNIT_OCTETS = 1024;

export const getQuota = defineCommand({
  name: 'GETQUOTA',
  states: 'authenticated',
  parse(cursor) {
    cursor.space();
    const root = cursor.astring();
    cursor.end();
    return root;
  },
  async run(connection, root) {
    if (root !== '') throw new CommandError('NO', 'The quota root does not exist', 'NONEXISTENT');
    return await sendQuota(connection);
  },
});

export const getQuotaRoot = defineCommand({
  name: 'GETQUOTAROOT',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    const mailbox = parseMailboxOrServer(cursor, textForm(connection));
    cursor.end();
    return mailbox;
  },
  // The mailbox need not exist: the answer is the root that it would have (RFC 9208 section 4.1.2).
  async run(connection, mailbox) {
    const form = textForm(connection);
    const name = writeAstring(encodeMailboxName(mailbox, form), form);
    connection.wire.send(`* QUOTAROOT ${name} ""\r\n`);
    return await sendQuota(connection);
  },
});

export const setQuota = defineCommand({
  name: 'SETQUOTA',
  states: 'authenticated',
  parse: (cursor) => void cursor.rest(),
  run: async () => ({ refused: 'NO', code: 'NOPERM', text: 'The operator sets the quota' }) as const,
});

async function sendQuota(connection: Connection): Promise<Result> {
  const quota = await accountOf(connection).quota();
  if (isRefusal(quota)) return quota;
  const { usedBytes, maxBytes } = quota;
  const used = Math.ceil(usedBytes / UNIT_OCTETS);
  const storage = maxBytes === null ? '' : `STORAGE ${used} ${Math.floor(maxBytes / UNIT_OCTETS)}`;
  sendUntagged(connection, `QUOTA "" (${storage})`);
  return undefined;
}
