/** CAPABILITY, STARTTLS, NOOP and LOGOUT (RFC 5804 section 2). */
import { privacyOf } from '../../access/privacy.ts';
import { defineCommand, sendCapabilities } from '../command.ts';
import { encrypt } from '../encrypt.ts';
import { writeCompletion, writeString } from '../respond.ts';

export const capability = defineCommand({
  name: 'CAPABILITY',
  states: 'any',
  parameters: [],
  async run(connection) {
    sendCapabilities(connection);
    return undefined;
  },
});

export const starttls = defineCommand({
  name: 'STARTTLS',
  states: 'not authenticated',
  parameters: [],
  async run(connection) {
    const { tls } = connection.context.options;
    if (!tls || !privacyOf(connection).offersTls) return { refused: 'NO', text: 'TLS is not available' };
    return {
      text: 'Begin TLS now',
      async next() {
        const secure = await encrypt(connection, tls.certificates);
        // The client learns the capabilities again, now that nobody in between can have changed them (RFC 5804 section 2.2).
        sendCapabilities(secure);
        secure.wire.send(writeCompletion('OK', { text: 'TLS is active' }));
        return secure;
      },
    };
  },
});

export const noop = defineCommand({
  name: 'NOOP',
  states: 'any',
  parameters: ['string?'],
  async run(_connection, [tag]) {
    return { code: tag === undefined ? undefined : `TAG ${writeString(tag)}`, text: 'Done' };
  },
});

export const logout = defineCommand({
  name: 'LOGOUT',
  states: 'any',
  parameters: [],
  async run(connection) {
    connection.isOpen = false;
    return { text: 'Logged out' };
  },
});
