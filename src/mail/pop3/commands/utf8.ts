/** UTF8 (RFC 6856 section 2.1): the client reads UTF-8 in the header of messages. */
import { type Command, earlyOf, refuseArgument } from './command.ts';

export const utf8: Command = {
  state: 'authorization',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (!refusal) earlyOf(connection).isUtf8 = true;
    return refusal;
  },
};
