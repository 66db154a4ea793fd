/** STARTTLS (RFC 9051 section 6.2.1). */
import { privacyOf } from '../../access/privacy.ts';
import { CommandError } from '../command-error.ts';
import { encrypt } from '../encrypt.ts';
import { defineCommand, noArguments } from './command.ts';

export const starttls = defineCommand({
  name: 'STARTTLS',
  states: 'not authenticated',
  changes: 'none',
  parse: noArguments,
  async run(connection) {
    const { tls } = connection.context.options;
    if (!tls || !privacyOf(connection).offersTls) throw new CommandError('BAD', 'TLS is not available');
    return { text: 'Begin TLS now', afterwards: () => encrypt(connection, tls.certificates) };
  },
});
