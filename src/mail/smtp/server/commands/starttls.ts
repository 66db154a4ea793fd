/** STARTTLS (RFC 3207): begins TLS, after which the client must begin anew. */
import { encrypt } from '../encrypt.ts';
import { formatReply } from '../format-reply.ts';
import { BAD_ARGUMENT, BAD_SEQUENCE, type Command, endTransaction } from './command.ts';

export const starttls: Command = {
  async run(connection, argument) {
    const { context, client, wire } = connection;
    const { tls } = context.options;
    if (argument !== '') return BAD_ARGUMENT;
    if (client.tls) return BAD_SEQUENCE;
    if (!tls) return { code: 502, status: '5.5.1', text: 'TLS is not offered' };
    endTransaction(connection);
    wire.send(formatReply({ code: 220, status: '2.0.0', text: 'Ready to start TLS' }));
    // Nothing that the client said in plaintext counts any more (RFC 3207 section 4.2).
    connection.client = { ...client, helo: undefined, protocol: 'SMTP' };
    await encrypt(connection, tls.certificates);
    return undefined;
  },
  isIdle: true,
  group: 'last',
};
