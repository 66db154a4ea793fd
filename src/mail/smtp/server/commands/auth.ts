/** AUTH (RFC 4954): the client logs in, by a mechanism of SASL. */
import { MAX_ANSWER_OCTETS, SaslError } from '../../../sasl/exchange.ts';
import { offeredMechanisms, runMechanism, type SaslSession } from '../../../sasl/mechanisms.ts';
import type { Reply } from '../session.ts';
import { BAD_SEQUENCE, type Command, type Connection, enterSlot, lineMs, replyToError } from './command.ts';

const ARGUMENT = /^([A-Za-z0-9_-]{1,20})(?: +(\S+))?$/;
const MALFORMED: Reply = { code: 501, status: '5.5.4', text: 'The argument of AUTH must be a mechanism' };
/** X.7.11 is a mechanism that needs encryption, and X.7.8 credentials that are wrong (RFC 4954 section 6). */
const NEEDS_TLS: Reply = { code: 538, status: '5.7.11', text: 'A login needs TLS; begin with STARTTLS' };
const NOT_OFFERED: Reply = { code: 502, status: '5.5.1', text: 'Logins are not offered' };
const ACCEPTED: Reply = { code: 235, status: '2.7.0', text: 'The login has succeeded' };

/** Replies to a client that does not follow its mechanism (RFC 4954 section 4). */
const FAULTS: Readonly<Record<SaslError['fault'], Pick<Reply, 'code' | 'status'>>> = {
  unsupported: { code: 504, status: '5.5.4' },
  malformed: { code: 501, status: '5.5.2' },
  'too-long': { code: 500, status: '5.5.6' },
  cancelled: { code: 501, status: '5.0.0' },
  refused: { code: 535, status: '5.7.8' },
};

export const auth: Command = {
  group: 'last',
  isIdle: true,
  async run(connection, argument) {
    const { client, context, isLoggedIn, transaction } = connection;
    if (!context.options.submission) return NOT_OFFERED;
    // A client logs in once, and not in the middle of a message (RFC 4954 section 4).
    if (client.helo === undefined || isLoggedIn || transaction) return BAD_SEQUENCE;
    if (!client.tls) return NEEDS_TLS;
    const [, mechanism, initial] = ARGUMENT.exec(argument) ?? [];
    if (mechanism === undefined) return MALFORMED;
    const refusal = await logIn(connection, mechanism, initial);
    if (refusal) {
      context.metrics.refused('auth');
      return refusal;
    }
    const { maxRecipients = context.limits.recipients, hasNotifications = true } =
      connection.session.logins?.loggedIn() ?? {};
    connection.maxRecipients = maxRecipients;
    connection.hasNotifications = hasNotifications;
    connection.isLoggedIn = true;
    enterSlot(connection, 'protected');
    if (client.protocol === 'ESMTPS') connection.client = { ...client, protocol: 'ESMTPSA' };
    return ACCEPTED;
  },
};

/** Runs the exchange of the mechanism. Returns undefined when the session has accepted the client. */
async function logIn(
  connection: Connection,
  mechanism: string,
  initial: string | undefined,
): Promise<Reply | undefined> {
  const { wire, lines, binding } = connection;
  const channel = {
    initial,
    binding,
    ask(challenge: string) {
      wire.send(`334 ${challenge}\r\n`);
      return lines.read(lineMs(connection), MAX_ANSWER_OCTETS);
    },
  };
  try {
    return await runMechanism(mechanism, channel, sessionOf(connection));
  } catch (error) {
    if (!(error instanceof SaslError)) throw error;
    const mechanisms = error.fault === 'unsupported' ? `: ${offeredMechanisms(binding).join(' ')}` : '';
    return { ...FAULTS[error.fault], text: `${error.message}${mechanisms}` };
  }
}

/** Returns the session as mechanisms ask it. */
function sessionOf({ session: { logins }, client, context }: Connection): SaslSession<Reply | undefined> {
  if (!logins) throw new Error('a session of this listener cannot decide about logins');
  return {
    login: (credentials) => logins.login(credentials, client).catch((error) => replyToError(context, error)),
    scramKey: (username) => logins.scramKey(username),
    loginByProof: (proof) =>
      logins
        .loginByProof(proof, client)
        .catch(async (error) => ({ answer: replyToError(context, error), serverSignature: undefined })),
  };
}
