/** VRFY (RFC 5321 section 4.1.1.6): does not say whether an address exists (RFC 5321 section 7.3). */
import { BAD_ARGUMENT, type Command } from './command.ts';

export const vrfy: Command = {
  run: (_connection, argument) =>
    argument === ''
      ? BAD_ARGUMENT
      : {
          code: 252,
          status: '2.5.0',
          text: 'The address is not verified; send the message to learn whether it is accepted',
        },
  isIdle: true,
};
