/** Commands that manage and list mailboxes, their annotations and their quota. */

import { CommandError } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import { writeStatus } from '../encode/mailboxes.ts';
import { encodeMailboxName, writeAstring } from '../encode/strings.ts';
import { SEPARATOR } from '../list-pattern.ts';
import { MAX_VALUE_OCTETS } from '../metadata.ts';
import type { Cursor } from '../parser/cursor.ts';
import {
  type ListArguments,
  parseList,
  parseLsub,
  parseMailbox,
  parseMailboxOrServer,
  parseStatusItems,
} from '../parser/list.ts';
import { parseMetadataQuery, parseMetadataSetting, VALUE_TOO_LARGE } from '../parser/metadata.ts';
import { isRefusal } from '../session.ts';
import {
  accountOf,
  type Command,
  defineCommand,
  enableFeatures,
  noArguments,
  type Result,
  sendChunks,
  sendUntagged,
  textForm,
} from './command.ts';

/** Returns the name of the mailbox, which is the only argument. */
function parseOneMailbox(cursor: Cursor, connection: Connection): string {
  cursor.space();
  return parseMailbox(cursor, textForm(connection));
}

/** Uses that a mailbox can have. `\All` and `\Flagged` are of mailboxes that show the messages of others. */
const SPECIAL_USES = ['\\Archive', '\\Drafts', '\\Junk', '\\Sent', '\\Trash'];

const create = defineCommand({
  name: 'CREATE',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    const mailbox = parseMailbox(cursor, textForm(connection));
    return { mailbox, specialUse: parseUse(cursor) };
  },
  run: async (connection, creation) => await accountOf(connection).create(creation),
});

/** Reads `(USE (\Sent))` where it stands. @throws CommandError, also for a use that no mailbox can have */
function parseUse(cursor: Cursor): string | undefined {
  if (cursor.isAtEnd) return undefined;
  cursor.space();
  cursor.expect('(');
  cursor.expect('USE ');
  const names = cursor.list(() => {
    cursor.expect('\\');
    return `\\${cursor.atom()}`.toLowerCase();
  });
  cursor.expect(')');
  const uses = SPECIAL_USES.filter((use) => names.includes(use.toLowerCase()));
  if (uses.length < names.length || uses.length > 1)
    throw new CommandError('NO', 'A mailbox cannot have this special use', 'USEATTR');
  return uses[0];
}

/** DELETE (RFC 9051 section 6.3.5). */
const deleteMailbox = defineCommand({
  name: 'DELETE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).delete(mailbox),
});

/** RENAME (RFC 9051 section 6.3.6). */
const rename = defineCommand({
  name: 'RENAME',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    const from = parseMailbox(cursor, textForm(connection));
    cursor.space();
    return { from, to: parseMailbox(cursor, textForm(connection)) };
  },
  run: async (connection, { from, to }) => await accountOf(connection).rename(from, to),
});

/** SUBSCRIBE (RFC 9051 section 6.3.7). */
const subscribe = defineCommand({
  name: 'SUBSCRIBE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).subscribe(mailbox),
});

/** UNSUBSCRIBE (RFC 9051 section 6.3.8). */
const unsubscribe = defineCommand({
  name: 'UNSUBSCRIBE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).unsubscribe(mailbox),
});

/** NAMESPACE (RFC 9051 section 6.3.10, RFC 2342): everything is the user's own. */
const namespace = defineCommand({
  name: 'NAMESPACE',
  states: 'authenticated',
  parse: noArguments,
  async run(connection) {
    sendUntagged(connection, `NAMESPACE (("" "${SEPARATOR}")) NIL NIL`);
    return undefined;
  },
});

/** STATUS (RFC 9051 section 6.3.11, RFC 7889 section 3.1). */
const status = defineCommand({
  name: 'STATUS',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    const mailbox = parseMailbox(cursor, textForm(connection));
    return { mailbox, items: parseStatusItems(cursor) };
  },
  async run(connection, { mailbox, items }) {
    if (items.includes('HIGHESTMODSEQ')) enableFeatures(connection, { condstore: true });
    const answer = await accountOf(connection).status(mailbox, items);
    if (isRefusal(answer)) return answer;
    const values = { ...answer, APPENDLIMIT: connection.context.limits.messageBytes };
    connection.wire.send(writeStatus({ mailbox, items, values }, textForm(connection)));
    return undefined;
  },
});

/** LIST (RFC 9051 section 6.3.9) and LSUB (RFC 3501 section 6.3.9). */
const list = defineCommand({
  name: 'LIST',
  states: 'authenticated',
  parse: (cursor, connection) => parseList(cursor, textForm(connection)),
  run: runList,
});

const lsub = defineCommand({
  name: 'LSUB',
  states: 'authenticated',
  parse: (cursor, connection) => parseLsub(cursor, textForm(connection)),
  run: runList,
});

async function runList(connection: Connection, { query, isRoot }: ListArguments): Promise<Result> {
  if (isRoot) {
    // The root of every name is empty.
    sendUntagged(connection, `${query.response} (\\Noselect) "${SEPARATOR}" ""`);
    return undefined;
  }
  if (query.return.status.includes('HIGHESTMODSEQ')) enableFeatures(connection, { condstore: true });
  if (query.patterns.length === 0) return undefined;
  const appendLimit = connection.context.limits.messageBytes;
  return await sendChunks(connection, accountOf(connection).list({ ...query, appendLimit }));
}

/** GETMETADATA and SETMETADATA (RFC 5464 sections 4.2 and 4.3). */

/** Entry of the server that no client can change (RFC 5464 section 3.2.1.1). */
const READ_ONLY = '/shared/admin';

const getMetadata = defineCommand({
  name: 'GETMETADATA',
  states: 'authenticated',
  parse: (cursor, connection) => parseMetadataQuery(cursor, textForm(connection)),
  run: async (connection, query) => await sendChunks(connection, accountOf(connection).getMetadata(query)),
});

const setMetadata = defineCommand({
  name: 'SETMETADATA',
  states: 'authenticated',
  literals: { maxOctets: MAX_VALUE_OCTETS, code: VALUE_TOO_LARGE },
  parse: (cursor, connection) => parseMetadataSetting(cursor, textForm(connection)),
  async run(connection, { mailbox, entries }) {
    if (mailbox === '' && entries.some(({ entry }) => entry.toLowerCase() === READ_ONLY))
      throw new CommandError('NO', `${READ_ONLY} cannot be changed`, 'NOPERM');
    return await accountOf(connection).setMetadata(mailbox, entries);
  },
});

/** GETQUOTA, GETQUOTAROOT and SETQUOTA (RFC 9208 section 4.1). All mailboxes of an account share one quota, whose root is empty. */

/** Octets of one unit of storage (RFC 9208 section 5.1). */
const UNIT_OCTETS = 1024;

const getQuota = defineCommand({
  name: 'GETQUOTA',
  states: 'authenticated',
  parse(cursor) {
    cursor.space();
    return cursor.astring();
  },
  async run(connection, root) {
    if (root !== '') throw new CommandError('NO', 'The quota root does not exist', 'NONEXISTENT');
    return await sendQuota(connection);
  },
});

const getQuotaRoot = defineCommand({
  name: 'GETQUOTAROOT',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    return parseMailboxOrServer(cursor, textForm(connection));
  },
  // The mailbox need not exist: the answer is the root that it would have (RFC 9208 section 4.1.2).
  async run(connection, mailbox) {
    const form = textForm(connection);
    const name = writeAstring(encodeMailboxName(mailbox, form), form);
    connection.wire.send(`* QUOTAROOT ${name} ""\r\n`);
    return await sendQuota(connection);
  },
});

const setQuota = defineCommand({
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

/** Commands about mailboxes, and about the account as a whole. */
export const MAILBOX_COMMANDS: readonly Command[] = [
  create,
  deleteMailbox,
  rename,
  subscribe,
  unsubscribe,
  namespace,
  status,
  list,
  lsub,
  getMetadata,
  setMetadata,
  getQuota,
  getQuotaRoot,
  setQuota,
];
