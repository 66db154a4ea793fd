/** Decides who logs in: the owner of a mailbox with its password, or anybody, under any name, with an API key as password. */
import type { PasswordCredentials } from '../mail/sasl/exchange.ts';
import type { ScramProof } from '../mail/sasl/scram.ts';
import { refusalReply } from '../mail/smtp/refusal.ts';
import type { Reply, SmtpClient } from '../mail/smtp/server/session.ts';
import type { LoginRefusal, LoginResult } from '../mailboxes/credential.ts';
import { AppError } from '../system/errors.ts';
import { getValidKey, requireNeed, requirePeer } from '../tenants/key-access.ts';
import { readToken } from '../tenants/keys.ts';
import { NEEDS, type SubmissionApp } from './submission-app.ts';
import type { User } from './user.ts';
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
export type LoginAnswer = { user: User; serverSignature?: string | undefined } | { refusal: Reply };

/** Checks a name and a password. Returns who has logged in, or the refusal. */
export async function logIn(
  app: SubmissionApp,
  credentials: PasswordCredentials,
  { address }: Pick<SmtpClient, 'address'>,
): Promise<LoginAnswer> {
  const { password } = credentials;
  if (readToken(app.config, password)) return logInWithKey(app, password, address);
  return toAnswer(app, await app.authenticate({ ...credentials, address, protocol: 'smtp' }));
}

/** Checks a proof that was made with the password of a mailbox. API keys have no verifiers, since any name goes with them. */
export async function logInByProof(
  app: SubmissionApp,
  proof: ScramProof,
  { address }: Pick<SmtpClient, 'address'>,
): Promise<LoginAnswer> {
  return toAnswer(app, await app.authenticate({ ...proof, address, protocol: 'smtp' }));
}

function toAnswer(app: SubmissionApp, result: LoginResult): LoginAnswer {
  if ('refused' in result) return { refusal: REFUSALS[result.refused] };
  return { user: createMailboxUser(app, result), serverSignature: result.serverSignature };
}

/** Wrong keys count towards the client's address. Beyond the limit none is looked up. */
async function logInWithKey(app: SubmissionApp, token: string, address: string): Promise<LoginAnswer> {
  if (!app.wrongKeys.mayTake(address)) return { refusal: REFUSALS.limited };
  try {
    const key = await getValidKey(app, app.knownKeys, token);
    requirePeer(key, address);
    requireNeed(key, NEEDS);
    app.recordKeyUse(key);
    return { user: createKeyUser(app, key, token) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    app.wrongKeys.take(address);
    app.log.info({ address, protocol: 'smtp', reason: error.message }, 'a login with an API key has failed');
    return { refusal: { ...refusalReply(error), code: 535, status: '5.7.8' } };
  }
}
