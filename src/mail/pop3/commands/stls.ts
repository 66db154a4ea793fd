/** STLS (RFC 2595 section 4). What the client has said before is forgotten. */
import { privacyOf } from '../../access/privacy.ts';
import { encrypt } from '../encrypt.ts';
import { type Command, earlyOf, refuse, refuseArgument } from './command.ts';

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
