/** HELO, EHLO and LHLO (RFC 5321 section 4.1.1.1, RFC 2033 section 4.1). */
import { isoTime } from '../../../../system/clock.ts';
import { offeredMechanisms } from '../../../sasl/mechanisms.ts';
import { formatBareReply } from '../format-reply.ts';
import type { SubmissionOptions } from '../options.ts';
import type { Reply, SmtpProtocol } from '../session.ts';
import { ask, BAD_ARGUMENT, type Command, type Connection, endTransaction } from './command.ts';

/**
 * Matches what domains and address literals consist of. Underscores are common in names of Windows hosts. The name goes
 * into header fields, so it has no other characters.
 */
const NAME = /^[A-Za-z0-9._:[\]-]{1,255}$/;

export const helo: Command = {
  run: (connection, argument) => greet(connection, argument, 'SMTP'),
  isIdle: true,
  group: 'last',
};

export const ehlo: Command = { ...helo, run: (connection, argument) => greet(connection, argument, 'ESMTP') };
export const lhlo: Command = { ...helo, run: (connection, argument) => greet(connection, argument, 'LMTP') };

async function greet(
  connection: Connection,
  argument: string,
  protocol: 'SMTP' | 'ESMTP' | 'LMTP',
): Promise<Reply | undefined> {
  if (!NAME.test(argument)) return BAD_ARGUMENT;
  // A greeting ends a transaction (RFC 5321 section 4.1.4).
  endTransaction(connection);
  const { context, client, wire } = connection;
  connection.client = { ...client, helo: argument, protocol: protocolOf(protocol, connection) };
  const refusal = await ask(connection, 'ehlo', (session) => session.ehlo(connection.client));
  if (refusal) {
    connection.client = client;
    return refusal;
  }
  const { hostname } = context.options;
  wire.send(formatBareReply(250, protocol === 'SMTP' ? [hostname] : [hostname, ...extensions(connection)]));
  return undefined;
}

function protocolOf(protocol: 'SMTP' | 'ESMTP' | 'LMTP', { client, isLoggedIn }: Connection): SmtpProtocol {
  if (protocol === 'SMTP' || !client.tls) return protocol;
  return isLoggedIn ? `${protocol}SA` : `${protocol}S`;
}

function extensions(connection: Connection): string[] {
  const { context, client, binding, isLoggedIn, maxRecipients, hasNotifications } = connection;
  const { clock, options, limits } = context;
  const { submission } = options;
  return [
    // A size without a number would mean that there is no maximum (RFC 1870 section 4).
    `SIZE ${limits.messageBytes}`,
    // These are defined in RFC 2920, RFC 6152, RFC 6531, RFC 3030 and RFC 2034.
    'PIPELINING',
    '8BITMIME',
    'SMTPUTF8',
    'CHUNKING',
    'ENHANCEDSTATUSCODES',
    // Clients that know this limit (RFC 9422 section 4) do not run into it.
    `LIMITS RCPTMAX=${maxRecipients}`,
    ...(submission && hasNotifications ? ['DSN'] : []),
    ...(submission ? [futureRelease(submission, clock.now())] : []),
    // A password is not asked for without TLS, nor a second time (RFC 4954 sections 3 and 4).
    ...(submission && client.tls && !isLoggedIn ? [`AUTH ${offeredMechanisms(binding).join(' ')}`] : []),
    // STARTTLS is not offered once TLS has begun (RFC 3207 section 4.2), and REQUIRETLS only then (RFC 8689 section 2).
    ...(client.tls ? ['REQUIRETLS'] : options.tls ? ['STARTTLS'] : []),
  ];
}

/** Returns the keyword with the longest time, and the last moment, until which a message can be held (RFC 4865 section 4). */
function futureRelease({ maxHoldSeconds }: SubmissionOptions, now: number): string {
  const last = isoTime(now + maxHoldSeconds * 1_000).replace(/\.\d+Z$/, 'Z');
  return `FUTURERELEASE ${maxHoldSeconds} ${last}`;
}
