/** The commands of each protocol by their verbs. */

import { isoTime } from '../../../../system/clock.ts';
import { offeredMechanisms } from '../../../sasl/mechanisms.ts';
import { formatBareReply, reply } from '../format-reply.ts';
import type { SubmissionOptions } from '../options.ts';
import type { Reply, SmtpProtocol } from '../session.ts';
import { auth } from './auth.ts';
import { bdat } from './bdat.ts';
import {
  ask,
  BAD_ARGUMENT,
  BAD_SEQUENCE,
  type Command,
  type Connection,
  endTransaction,
  offersNotifications,
  READY_FOR_TLS,
} from './command.ts';
import { data } from './data.ts';
import { mail, rcpt } from './transaction.ts';

/** Commands about the session as a whole (RFC 5321 section 4.1.1, RFC 3207). */
const SESSION_COMMANDS: Readonly<Record<string, Command>> = {
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

/** HELO, EHLO and LHLO (RFC 5321 section 4.1.1.1, RFC 2033 section 4.1). */

/**
 * Matches what domains and address literals consist of. Underscores are common in names of Windows hosts. The name goes
 * into header fields, so it has no other characters.
 */
const NAME = /^[A-Za-z0-9._:[\]-]{1,255}$/;

const helo: Command = {
  run: (connection, argument) => greet(connection, argument, 'SMTP'),
  isIdle: true,
  group: 'last',
};

const ehlo: Command = { ...helo, run: (connection, argument) => greet(connection, argument, 'ESMTP') };
const lhlo: Command = { ...helo, run: (connection, argument) => greet(connection, argument, 'LMTP') };

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
  const { context, client, binding, isLoggedIn, maxRecipients } = connection;
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
    ...(offersNotifications(connection) ? ['DSN'] : []),
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

const COMMON: Readonly<Record<string, Command>> = {
  ...SESSION_COMMANDS,
  MAIL: mail,
  RCPT: rcpt,
  DATA: data,
  BDAT: bdat,
};

export const COMMANDS: Readonly<Record<'smtp' | 'lmtp', ReadonlyMap<string, Command>>> = {
  smtp: new Map(Object.entries({ ...COMMON, HELO: helo, EHLO: ehlo, AUTH: auth })),
  // LMTP has a greeting of its own (RFC 2033 section 4.1).
  lmtp: new Map(Object.entries({ ...COMMON, LHLO: lhlo })),
};
