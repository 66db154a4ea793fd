/** Commands about the connection itself: CAPABILITY, ENABLE, ID, NOOP, CHECK, LOGOUT, STARTTLS and COMPRESS. */

import { ConnectionFault } from '../../access/fault.ts';
import type { UserNote } from '../../access/handover.ts';
import { privacyOf } from '../../access/privacy.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { attach, encrypt } from '../attach.ts';
import { COMPRESS_DEFLATE, capabilitiesOf, earlyCapabilities } from '../capabilities.ts';
import { bad, CommandError } from '../command-error.ts';
import { CompressedStream } from '../compress.ts';
import type { Connection, UserConnection } from '../connection-state.ts';
import { writeString } from '../encode/strings.ts';
import type { Cursor } from '../parser/cursor.ts';
import type { Features } from '../session.ts';
import {
  type Command,
  defineCommand,
  earlyOf,
  enableFeatures,
  noArguments,
  sendUntagged,
  userOf,
} from './command.ts';
import { pushTo } from './idle.ts';

/** NOOP (RFC 9051 section 6.1.2) and CHECK (RFC 3501 section 6.4.1): report all changes. */
const noop = defineCommand({
  name: 'NOOP',
  states: 'any',
  parse: noArguments,
  run: async () => undefined,
});

/** Mail is always on disk before it is reported, so there is nothing to check. */
const check = defineCommand({
  name: 'CHECK',
  states: 'selected',
  parse: noArguments,
  run: async () => undefined,
});

/** LOGOUT (RFC 9051 section 6.1.3). */
const logout = defineCommand({
  name: 'LOGOUT',
  states: 'any',
  changes: 'none',
  parse: noArguments,
  async run(connection) {
    sendUntagged(connection, 'BYE Logging out');
    connection.isOpen = false;
    return undefined;
  },
});

/** STARTTLS (RFC 9051 section 6.2.1). */
const starttls = defineCommand({
  name: 'STARTTLS',
  states: 'not authenticated',
  changes: 'none',
  parse: noArguments,
  async run(connection) {
    const early = earlyOf(connection);
    if (!privacyOf(early).offersTls) throw new CommandError('BAD', 'TLS is not available');
    return { text: 'Begin TLS now', next: () => encrypt(early) };
  },
});

/** CAPABILITY (RFC 9051 section 6.1.1). */
const capability = defineCommand({
  name: 'CAPABILITY',
  states: 'any',
  parse: noArguments,
  async run(connection) {
    sendUntagged(connection, `CAPABILITY ${currentCapabilities(connection)}`);
    return undefined;
  },
});

/** Returns what is advertised in the state of the connection. */
export function currentCapabilities(connection: Connection): string {
  const { messageBytes } = connection.context.limits;
  if (connection.session) {
    const binding = channelBindingOf(connection.socket);
    return earlyCapabilities({ ...privacyOf(connection), binding, messageBytes });
  }
  const { state, compression } = connection;
  const { disabledCapabilities } = state.account;
  const withheld = [...disabledCapabilities, ...(compression ? [COMPRESS_DEFLATE] : [])];
  return capabilitiesOf({ disabledCapabilities: withheld }, messageBytes);
}

/** ID (RFC 2971): the client and the server name their programs. */

/** Limits of RFC 2971 section 3.3. */
const MAX_FIELDS = 30;
const MAX_NAME_OCTETS = 30;
const MAX_VALUE_OCTETS = 1_024;

const id = defineCommand({
  name: 'ID',
  states: 'any',
  parse: parseFields,
  async run(connection, fields) {
    if (connection.session) connection.client = { ...connection.client, id: fields };
    else connection.context.noteId?.(fields);
    const own = Object.entries(connection.context.options.id ?? {});
    const values = own.flat().map((text) => writeString(text, '7bit'));
    sendUntagged(connection, `ID ${values.length > 0 ? `(${values.join(' ')})` : 'NIL'}`);
    return undefined;
  },
});

/** Returns the fields by their names in lower case. One without a value is left out. */
function parseFields(cursor: Cursor): Record<string, string> {
  cursor.space();
  const fields: [string, string][] = [];
  let names = 0;
  if (cursor.isAtList) {
    cursor.list(() => {
      const name = cursor.string().toLowerCase();
      cursor.space();
      const value = cursor.nstring();
      if (++names > MAX_FIELDS) bad(`ID has at most ${MAX_FIELDS} fields`, 'LIMIT');
      if (Buffer.byteLength(name) > MAX_NAME_OCTETS)
        bad(`The name of a field has at most ${MAX_NAME_OCTETS} octets`, 'LIMIT');
      if (value !== undefined && Buffer.byteLength(value) > MAX_VALUE_OCTETS)
        bad(`The value of a field has at most ${MAX_VALUE_OCTETS} octets`, 'LIMIT');
      if (value !== undefined) fields.push([name, value]);
    });
  } else if (cursor.nstring() !== undefined) bad('ID needs a list or NIL');
  return Object.fromEntries(fields);
}

/** ENABLE (RFC 9051 section 6.3.1, RFC 5161). */

/** Features by their capability. */
const FEATURES: ReadonlyMap<string, Partial<Features>> = new Map(
  Object.entries({
    IMAP4rev2: { rev2: true, utf8: true },
    'UTF8=ACCEPT': { utf8: true },
    CONDSTORE: { condstore: true },
    METADATA: { metadata: true },
    QRESYNC: { condstore: true, qresync: true },
  }),
);

const enable = defineCommand({
  name: 'ENABLE',
  states: 'authenticated',
  parse(cursor) {
    const names: string[] = [];
    while (!cursor.isAtEnd) {
      cursor.space();
      names.push(cursor.atom().toUpperCase());
    }
    return names.length > 0 ? names : bad('ENABLE needs a capability');
  },
  async run(connection, names) {
    const offered = currentCapabilities(connection).split(' ');
    const enabled: string[] = [];
    for (const [name, features] of FEATURES) {
      // Names that are unknown are ignored (RFC 5161 section 3.1).
      if (!names.includes(name.toUpperCase()) || !offered.includes(name)) continue;
      enableFeatures(connection, features);
      enabled.push(name);
    }
    sendUntagged(connection, ['ENABLED', ...enabled].join(' '));
    return undefined;
  },
});

/** COMPRESS (RFC 4978 section 3). */
const compress = defineCommand({
  name: 'COMPRESS',
  states: 'authenticated',
  changes: 'none',
  parse(cursor) {
    cursor.space();
    if (cursor.atom().toUpperCase() !== 'DEFLATE') bad('DEFLATE is the only kind of compression');
  },
  async run(connection) {
    const user = userOf(connection);
    if (user.compression) bad('Compression is active already');
    if (!currentCapabilities(user).split(' ').includes(COMPRESS_DEFLATE)) bad('Compression is not available');
    return { text: 'DEFLATE active', next: async () => compressed(user) };
  },
});

/** Returns the connection with everything that follows compressed, in both directions. */
function compressed({ wire, stream, pushes, ...user }: UserConnection): UserConnection {
  const unread = wire.takeOver();
  pushes?.unwatch();
  const compression = new CompressedStream(stream, unread, () =>
    connection.wire.interrupt(new ConnectionFault('compression', 'The compressed data is malformed')),
  );
  const connection: UserConnection = attach({ ...user, stream, compression, pushes: undefined }, compression);
  if (pushes) connection.pushes = pushTo(connection, pushes.kind);
  stream.postNote({ kind: 'compressed' } satisfies UserNote);
  // A change may have signalled the wire before this one.
  connection.wire.signal();
  return connection;
}

/** Commands about the connection, and about what both sides can do. */
export const SESSION_COMMANDS: readonly Command[] = [
  noop,
  check,
  logout,
  starttls,
  capability,
  id,
  enable,
  compress,
];
