/** Commands about the session as a whole (RFC 5321 section 4.1.1, RFC 3207). */
import { reply } from '../format-reply.ts';
import { BAD_ARGUMENT, BAD_SEQUENCE, type Command, endTransaction, READY_FOR_TLS } from './command.ts';

export const SESSION_COMMANDS: Readonly<Record<string, Command>> = {
  /** The argument of NOOP is ignored (RFC 5321 section 4.1.1.9). */
  NOOP: { run: () => reply(250, '2.0.0', 'OK'), isIdle: true },
  HELP: { run: () => reply(214, '2.0.0', 'This server speaks SMTP as in RFC 5321'), isIdle: true },
  /** EXPN tells nobody who is on a list (RFC 5321 section 7.3). */
  EXPN: { run: () => reply(502, '5.5.1', 'Lists are not expanded'), isIdle: true },
  /** VRFY tells nobody whether an address exists (RFC 5321 section 7.3). */
  VRFY: { run: (_connection, argument) => (argument === '' ? BAD_ARGUMENT : NOT_VERIFIED), isIdle: true },
  /** Gives up the transaction (RFC 5321 section 4.1.1.5). */
  RSET: {
    group: 'within',
    run(connection, argument) {
      if (argument !== '') return BAD_ARGUMENT;
      endTransaction(connection);
      return reply(250, '2.0.0', 'OK');
    },
    isIdle: true,
  },
  QUIT: {
    run(connection, argument) {
      if (argument !== '') return BAD_ARGUMENT;
      connection.isOpen = false;
      return reply(221, '2.0.0', 'Bye');
    },
  },
  STARTTLS: {
    run(connection, argument) {
      if (argument !== '') return BAD_ARGUMENT;
      if (connection.client.tls) return BAD_SEQUENCE;
      if (!connection.context.options.tls) return reply(502, '5.5.1', 'TLS is not offered');
      endTransaction(connection);
      return READY_FOR_TLS;
    },
    isIdle: true,
    group: 'last',
  },
};

const NOT_VERIFIED = reply(
  252,
  '2.5.0',
  'The address is not verified; send the message to learn whether it is accepted',
);
