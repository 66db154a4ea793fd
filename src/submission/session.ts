/**
 * The session of the ports at which people and applications hand over mail of their own (RFC 6409). It takes mail after a login alone, and
 * sends it on. The protocol is in mail/smtp/server.
 */
import { logRefused } from '../events/mail-log.ts';
import { addressKey } from '../mail/address.ts';
import type { PasswordCredentials } from '../mail/sasl/exchange.ts';
import type { ScramProof } from '../mail/sasl/scram.ts';
import { refusalReply } from '../mail/smtp/refusal.ts';
import type { Reply, Sender, Session, SessionConnection, SmtpClient } from '../mail/smtp/server/session.ts';
import type { LoginRefusal, LoginResult } from '../mailboxes/credential.ts';
import { AppError } from '../system/errors.ts';
import { requireCapacity } from '../system/guards/overload.ts';
import { getValidKey, requireNeed, requirePeer } from '../tenants/key-access.ts';
import { readToken } from '../tenants/keys.ts';
import type { PlannedKey } from '../tenants/store.ts';
import { receiveSubmission } from './receive.ts';
import { NEEDS, type SubmissionApp } from './submission-app.ts';
import { domainOf, type SubmittedRecipient, type User } from './user.ts';
import { createKeyUser } from './users/key-user.ts';
import { createMailboxUser } from './users/mailbox-user.ts';

/** Replies of RFC 4954 section 6. A login that fails for now is tried again by mail programs, without asking for another password. */
const REFUSALS: Readonly<Record<LoginRefusal, Reply>> = {
  credentials: { code: 535, status: '5.7.8', text: 'The user name or the password is wrong' },
  limited: { code: 454, status: '4.7.0', text: 'Too many logins have failed; try again later' },
  suspended: { code: 535, status: '5.7.8', text: 'The mailbox is suspended' },
  damaged: { code: 454, status: '4.7.0', text: 'The mailbox is not available at the moment' },
  unavailable: { code: 454, status: '4.7.0', text: 'Logins are not possible at the moment; try again later' },
};

/** Somebody who has logged in, or the refusal. `serverSignature` is the proof of the server after a login by a proof (RFC 5802 section 3). */
type LoginAnswer = { user: User; serverSignature?: string | undefined } | { refusal: Reply };

/** The replies to mail without a login (RFC 4954 section 6, RFC 3207 section 4). */
const NEEDS_LOGIN: Reply = { code: 530, status: '5.7.0', text: 'A login is needed first' };
const NEEDS_TLS: Reply = { code: 530, status: '5.7.0', text: 'TLS is needed first; begin with STARTTLS' };
/** Ends the connection of a user that has too many. Another one is free again in a while. */
const TOO_MANY_CONNECTIONS: Reply = {
  code: 421,
  status: '4.7.0',
  text: 'You have too many connections; try again later',
};
/** Refuses parameters about notifications that are not sent (RFC 5321 section 4.1.1.11). */
const NO_NOTIFICATIONS: Reply = {
  code: 555,
  status: '5.5.4',
  text: 'Parameters of DSN have no effect with an API key; what becomes of the email is in its events',
};
/** X.1.2 is a domain that nothing can be sent to (RFC 3463 section 3.2). */
const NO_DOMAIN = { code: 550, status: '5.1.2' } as const;
/** Matches a domain of two labels or more, as DNS has them. */
const DOMAIN_NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;

/** Returns a session, which serves one connection. */
export function createSubmissionSession(app: SubmissionApp, connection: SessionConnection): Session {
  /** The user that was accepted, and is logged in once the exchange has ended: a client that does not believe the server cancels it. */
  let accepted: User | undefined;
  let user: User | undefined;
  /** Gives back what the accepted user holds. */
  let release = () => {};
  let sender: Sender | undefined;
  /** By the keys of their addresses. */
  const recipients = new Map<string, SubmittedRecipient>();

  async function refuseRecipient(recipient: SubmittedRecipient): Promise<Reply | undefined> {
    if (!DOMAIN_NAME.test(recipient.domain))
      return { ...NO_DOMAIN, text: `<${recipient.address}>: the domain of an address has a dot in its name` };
    return user?.refuseRecipient(recipient, recipients.size);
  }

  function admit(login: LoginAnswer): Reply | undefined {
    accepted = undefined;
    release();
    release = () => {};
    if ('refusal' in login) return login.refusal;
    const giveBack = app.userConnections.take(login.user);
    if (!giveBack) return TOO_MANY_CONNECTIONS;
    const endWatch = app.openLogins.watch(login.user, (reply) => connection.end(reply));
    release = () => {
      endWatch();
      giveBack();
    };
    accepted = login.user;
    return undefined;
  }

  return {
    connect: async () => undefined,
    ehlo: async () => undefined,
    logins: {
      login: async (credentials, client) => admit(await logIn(app, credentials, client)),
      scramKey: app.scramKey,
      async loginByProof(proof, client) {
        const login = await logInByProof(app, proof, client);
        const answer = admit(login);
        const isAccepted = !('refusal' in login) && answer === undefined;
        return { answer, serverSignature: isAccepted ? login.serverSignature : undefined };
      },
      loggedIn() {
        user = accepted;
        return { maxRecipients: user?.maxRecipients, hasNotifications: user?.hasNotifications };
      },
    },
    async mail(given, client) {
      if (!user) return client.tls ? NEEDS_LOGIN : NEEDS_TLS;
      if (given.dsn !== undefined && !user.hasNotifications) return NO_NOTIFICATIONS;
      requireCapacity(app);
      const ended = await user.beginMessage();
      if (ended) return ended;
      const { address } = given;
      // Receipts that a message was read have no sender (RFC 8098 section 2.1).
      const refusal =
        address === '' ? undefined : await user.refuseSender({ address, domain: domainOf(address) });
      if (refusal) return refusal;
      sender = given;
      return undefined;
    },
    async rcpt({ address: given, dsn = null }, client) {
      // The postmaster may be addressed without a domain (RFC 5321 section 4.1.1.3).
      const address = given.includes('@') ? given : `${given}@${app.config.hostname.toLowerCase()}`;
      const recipient = { address, domain: domainOf(address), dsn };
      if (dsn !== null && !user?.hasNotifications) return NO_NOTIFICATIONS;
      // A recipient that is named again is no other one.
      if (recipients.has(addressKey(address))) return undefined;
      const reply = await refuseRecipient(recipient);
      const from = sender?.address ?? '';
      if (reply) logRefused(app, client, { user: user?.logFields, from, to: [address], reply });
      else recipients.set(addressKey(address), recipient);
      return reply;
    },
    async data(body, client) {
      if (!user || !sender) throw new Error('a message came without a sender');
      const envelope = { user, client, envelope: sender, recipients: [...recipients.values()] };
      const reply = await receiveSubmission(app, envelope, body);
      const to = envelope.recipients.map(({ address }) => address);
      const line = { user: user.logFields, from: sender.address, to, reply };
      if (reply.code >= 400) logRefused(app, client, line);
      return reply;
    },
    reset() {
      sender = undefined;
      recipients.clear();
    },
    close: () => release(),
  };
}

/** Checks a name and a password. Returns who has logged in, or the refusal. */
async function logIn(
  app: SubmissionApp,
  credentials: PasswordCredentials,
  { address }: Pick<SmtpClient, 'address'>,
): Promise<LoginAnswer> {
  const { password } = credentials;
  if (readToken(app.config, password)) return logInWithKey(app, password, address);
  return toAnswer(app, await app.authenticate({ ...credentials, address, protocol: 'smtp' }), address);
}

/** Checks a proof that was made with the password of a mailbox. API keys have no verifiers, since any name goes with them. */
async function logInByProof(
  app: SubmissionApp,
  proof: ScramProof,
  { address }: Pick<SmtpClient, 'address'>,
): Promise<LoginAnswer> {
  return toAnswer(app, await app.authenticate({ ...proof, address, protocol: 'smtp' }), address);
}

function toAnswer(app: SubmissionApp, result: LoginResult, address: string): LoginAnswer {
  if ('refused' in result) return { refusal: REFUSALS[result.refused] };
  return { user: createMailboxUser(app, result, address), serverSignature: result.serverSignature };
}

/**
 * Refuses a key that names a mailbox: its mail would be an email of the tenant.
 * @throws AppError restricted_api_key
 */
function requireKeyOfTenant({ mailboxId }: PlannedKey): void {
  if (mailboxId === null) return;
  throw new AppError(
    'restricted_api_key',
    'An API key of a mailbox does not send by SMTP; use an app password',
  );
}

/** Wrong keys count towards the client's address. Beyond the limit none is looked up. */
async function logInWithKey(app: SubmissionApp, token: string, address: string): Promise<LoginAnswer> {
  if (!app.wrongKeys.mayTake(address)) return { refusal: REFUSALS.limited };
  try {
    const key = await getValidKey(app, app.knownKeys, token);
    requirePeer(key, address);
    requireNeed(key, NEEDS);
    requireKeyOfTenant(key);
    app.recordKeyUse(key);
    return { user: createKeyUser(app, key, token) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    app.wrongKeys.take(address);
    app.log.info({ address, protocol: 'smtp', reason: error.message }, 'a login with an API key has failed');
    return { refusal: { ...refusalReply(error), code: 535, status: '5.7.8' } };
  }
}
