/** The commands by their keywords. */

import { privacyOf } from '../../access/privacy.ts';
import { capabilitiesOf } from '../capabilities.ts';
import type { Connection } from '../connection-state.ts';
import { encrypt } from '../encrypt.ts';
import type { OpenMaildrop } from '../open-maildrop.ts';
import {
  type Command,
  dropOf,
  earlyOf,
  findMessage,
  type Result,
  refuse,
  refuseArgument,
  sendLines,
} from './command.ts';
import { auth, pass, user } from './login.ts';
import { retr, top } from './retr.ts';

/** Commands about the maildrop: STAT, LIST, UIDL, DELE and RSET. */

/** STAT, LIST (RFC 1939 section 5) and UIDL (section 7). */
const stat: Command = {
  state: 'transaction',
  async run(connection, argument) {
    const { count, sizeBytes } = dropOf(connection);
    return refuseArgument(argument) ?? { text: `${count} ${sizeBytes}` };
  },
};

const list: Command = {
  state: 'transaction',
  run: (connection, argument) =>
    answer(connection, argument, (drop, index) => `${index + 1} ${drop.sizeOf(index)}`),
};

const uidl: Command = {
  state: 'transaction',
  run: (connection, argument) =>
    answer(connection, argument, (drop, index) => `${index + 1} ${drop.uniqueIdOf(index)}`),
};

type Describe = (drop: OpenMaildrop, index: number) => string;

/** Answers for one message, or for all that are not marked as deleted. */
async function answer(connection: Connection, argument: string, describe: Describe): Promise<Result> {
  const drop = dropOf(connection);
  const number = argument.trim();
  if (number === '')
    return await sendLines(connection, `+OK ${drop.count} messages`, describeAll(drop, describe));
  const index = findMessage(drop, number);
  return typeof index === 'number' ? { text: describe(drop, index) } : index;
}

function* describeAll(drop: OpenMaildrop, describe: Describe): Generator<string> {
  for (let index = 0; index < drop.length; index++) if (drop.has(index)) yield describe(drop, index);
}

/** DELE and RSET (RFC 1939 section 5). A message that is marked as deleted is removed by QUIT. */
const dele: Command = {
  state: 'transaction',
  async run(connection, argument) {
    const drop = dropOf(connection);
    const index = findMessage(drop, argument.trim());
    if (typeof index !== 'number') return index;
    drop.delete(index);
    return { text: 'The message is marked as deleted' };
  },
};

const rset: Command = {
  state: 'transaction',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (!refusal) dropOf(connection).reset();
    return refusal;
  },
};

/** Commands about the connection itself: CAPA, STLS, UTF8, LANG, NOOP and QUIT. */

/** CAPA (RFC 2449 section 5). */
const capa: Command = {
  state: 'any',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (refusal) return refusal;
    return await sendLines(connection, '+OK Capabilities', capabilitiesOf(connection));
  },
};

/** STLS (RFC 2595 section 4). What the client has said before is forgotten. */
const stls: Command = {
  state: 'authorization',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (refusal) return refusal;
    const early = earlyOf(connection);
    if (!privacyOf(early).offersTls) return refuse('TLS is not available');
    return { text: 'Begin TLS now', next: () => encrypt(early) };
  },
};

/** UTF8 (RFC 6856 section 2.1): the client reads UTF-8 in the header of messages. */
const utf8: Command = {
  state: 'authorization',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (!refusal) earlyOf(connection).isUtf8 = true;
    return refusal;
  },
};

/** Tag of the language of all responses. */
const LANGUAGE = 'en';

const lang: Command = {
  state: 'any',
  async run(connection, argument) {
    const range = argument.trim().toLowerCase();
    if (range === '') return await sendLines(connection, '+OK Languages', [`${LANGUAGE} English`]);
    // An asterisk stands for the language that the server prefers.
    if (range !== LANGUAGE && range !== '*') return refuse('Responses are in English alone');
    return { text: `${LANGUAGE} Responses are in English` };
  },
};

/** NOOP (RFC 1939 section 5). */
const noop: Command = {
  state: 'transaction',
  run: async (_connection, argument) => refuseArgument(argument),
};

/** QUIT (RFC 1939 sections 4 and 6): removes what is marked as deleted, all or nothing, and ends the connection. */
const quit: Command = {
  state: 'any',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (refusal) return refusal;
    connection.isOpen = false;
    if (!connection.session) {
      const { drop } = connection;
      const failure = await drop.maildrop.quit(drop.deleted());
      if (failure) return failure;
    }
    return { text: 'Good bye' };
  },
};

export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    CAPA: capa,
    USER: user,
    PASS: pass,
    AUTH: auth,
    STLS: stls,
    UTF8: utf8,
    LANG: lang,
    STAT: stat,
    LIST: list,
    UIDL: uidl,
    RETR: retr,
    TOP: top,
    DELE: dele,
    RSET: rset,
    NOOP: noop,
    QUIT: quit,
  }),
);
