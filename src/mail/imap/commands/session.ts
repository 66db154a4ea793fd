/** Commands about the connection itself: NOOP, CHECK, LOGOUT and STARTTLS. */
import { privacyOf } from '../../access/privacy.ts';
import { encrypt } from '../attach.ts';
import { CommandError } from '../command-error.ts';
import { defineCommand, earlyOf, noArguments, sendUntagged } from './command.ts';

/** NOOP (RFC 9051 section 6.1.2) and CHECK (RFC 3501 section 6.4.1): report all changes. */
export const noop = defineCommand({
  name: 'NOOP',
  states: 'any',
  parse: noArguments,
  run: async () => undefined,
});

/** Mail is always on disk before it is reported, so there is nothing to check. */
export const check = defineCommand({
  name: 'CHECK',
  states: 'selected',
  parse: noArguments,
  run: async () => undefined,
});

/** LOGOUT (RFC 9051 section 6.1.3). */
export const logout = defineCommand({
  name: 'LOGOUT',
  states: 'any',
  changes: 'none',
  parse: noArguments,
  async run(connection) {
    sendUntagged(connection, 'BYE Logging out');
    connection.isOpen = false;
    return undefined;
  },
});

/** STARTTLS (RFC 9051 section 6.2.1). */
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
