/** STLS (RFC 2595 section 4). What the client has said before is forgotten. */
import { privacyOf } from '../../access/privacy.ts';
import { type Command, refuse, refuseArgument } from './command.ts';

export const stls: Command = {
  state: 'authorization',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (refusal) return refusal;
    if (!privacyOf(connection).offersTls) return refuse('TLS is not available');
    return {
      text: 'Begin TLS now',
      async afterwards() {
        await connection.encrypt();
        connection.state = { name: 'authorization', user: undefined };
        connection.isUtf8 = false;
      },
    };
  },
};
