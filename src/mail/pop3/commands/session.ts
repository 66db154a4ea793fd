/** Commands about the connection itself: CAPA, STLS, UTF8, LANG, NOOP and QUIT. */
import { privacyOf } from '../../access/privacy.ts';
import { capabilitiesOf } from '../capabilities.ts';
import { encrypt } from '../encrypt.ts';
import { type Command, earlyOf, refuse, refuseArgument, sendLines } from './command.ts';

/** CAPA (RFC 2449 section 5). */
export const capa: Command = {
  state: 'any',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (refusal) return refusal;
    return await sendLines(connection, '+OK Capabilities', capabilitiesOf(connection));
  },
};

/** STLS (RFC 2595 section 4). What the client has said before is forgotten. */
export const stls: Command = {
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
export const utf8: Command = {
  state: 'authorization',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (!refusal) earlyOf(connection).isUtf8 = true;
    return refusal;
  },
};

/** Tag of the language of all responses. */
const LANGUAGE = 'en';

export const lang: Command = {
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
export const noop: Command = {
  state: 'transaction',
  run: async (_connection, argument) => refuseArgument(argument),
};

/** QUIT (RFC 1939 sections 4 and 6): removes what is marked as deleted, all or nothing, and ends the connection. */
export const quit: Command = {
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
