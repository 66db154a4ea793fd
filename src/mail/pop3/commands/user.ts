/** USER and PASS (RFC 1939 section 7). The responses do not reveal whether a name exists. */
import { type Command, earlyOf, refuse } from './command.ts';
import { admit, refusePlaintext } from './log-in.ts';

/** Maximum length of a name, as that of SASL: the longest address has 254 octets. */
const MAX_NAME_OCTETS = 255;
const CONTROL = /\p{Cc}/u;

export const user: Command = {
  state: 'authorization',
  async run(connection, argument) {
    const name = argument.trim();
    const early = earlyOf(connection);
    const refusal = refusePlaintext(early);
    if (refusal) return refusal;
    if (name === '') return refuse('The command needs the name of a user');
    if (Buffer.byteLength(name) > MAX_NAME_OCTETS || CONTROL.test(name))
      return refuse('This is not the name of a user');
    early.user = name;
    return undefined;
  },
};

export const pass: Command = {
  state: 'authorization',
  async run(connection, password) {
    const early = earlyOf(connection);
    const { session, client, user: username } = early;
    if (username === undefined) return refuse('USER comes first');
    early.user = undefined;
    return admit(early, await session.login({ username, password, client }));
  },
};
