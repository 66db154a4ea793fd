/** NOOP (RFC 1939 section 5). */
import { type Command, refuseArgument } from './command.ts';

export const noop: Command = {
  state: 'transaction',
  run: async (_connection, argument) => refuseArgument(argument),
};
