/** STARTTLS (RFC 9051 section 6.2.1). */
import { privacyOf } from '../../access/privacy.ts';
import { encrypt } from '../attach.ts';
import { CommandError } from '../command-error.ts';
import { defineCommand, earlyOf, noArguments } from './command.ts';

export const starttls = defineCommand({
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
