/** An application that logs in with an API key. Its messages are emails of the API, as if it had sent them there. */

import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import { isSimulatorDomain } from '../../domains/sender.ts';
import { acceptEmail } from '../../emails/accept.ts';
import { commitStored } from '../../emails/commit.ts';
import { answerOnce } from '../../emails/idempotency/in-flight.ts';
import { IDEMPOTENCY_WINDOW_MS, readIdempotencyKeys } from '../../emails/idempotency/key.ts';
import type { IdempotencyClaim } from '../../emails/idempotency/store.ts';
import { requireSender } from '../../emails/sender.ts';
import { addressKey } from '../../mail/address.ts';
import { RefusedMessage } from '../../mail/smtp/refused-message.ts';
import type { Reply } from '../../mail/smtp/server/session.ts';
import { AppError } from '../../system/errors.ts';
import { type Caller, callerWith } from '../../tenants/authenticate.ts';
import { getValidKey, requireNeed, requireSameApproval } from '../../tenants/key-access.ts';
import type { PlannedKey } from '../../tenants/store.ts';
import { buildEmail } from '../email.ts';
import { IDEMPOTENCY_FIELD } from '../header.ts';
import { LOGIN_HAS_ENDED, refuseSuppressed } from '../refusals.ts';
import { NEEDS, type SubmissionApp } from '../submission-app.ts';
import { type Submission, type SubmittedRecipient, senderDomainsOf, type User } from '../user.ts';

/** Maximum number of recipients of an email (specification 8). */
const MAX_RECIPIENTS = 50;
/** The client sends the message to its other recipients in another transaction (RFC 5321 section 4.5.3.1.10). */
const TOO_MANY: Reply = {
  code: 452,
  status: '4.5.3',
  text: `An email has at most ${MAX_RECIPIENTS} recipients`,
};

/** Returns the application that has logged in with this key. */
export function createKeyUser(app: SubmissionApp, key: PlannedKey, token: string): User {
  const { id: keyId, tenantId } = key;
  const caller = callerWith(key);
  const findValidKey = async () => {
    const found = await getValidKey(app, app.knownKeys, token);
    requireNeed(found, NEEDS);
    return found;
  };
  const findEnd = async () => {
    try {
      await findValidKey();
      return undefined;
    } catch (error) {
      if (isEndOfKey(error)) return LOGIN_HAS_ENDED;
      throw error;
    }
  };

  return {
    tenantId,
    id: keyId,
    maxRecipients: MAX_RECIPIENTS,
    // Bounces come to the return path of the installation, and become events.
    hasNotifications: false,
    logFields: { keyId },
    expiresAt: key.expiresAt,
    findEnd,
    async beginMessage() {
      const ended = await findEnd();
      if (ended) return ended;
      const { requestsPerSecond } = key;
      if (requestsPerSecond === null || app.rateLimit.take(tenantId, requestsPerSecond).allowed)
        return undefined;
      throw new AppError('rate_limited', `Your plan allows ${requestsPerSecond} requests per second`);
    },
    async refuseSender({ domain }) {
      // The recipients, on which a sender of the sandbox domain depends, come later.
      await requireSender(app, caller, { domain, simulatorOnly: true });
      return undefined;
    },
    async refuseRecipient({ address }, accepted) {
      if (accepted >= MAX_RECIPIENTS) return TOO_MANY;
      return refuseSuppressed(app, tenantId, address);
    },
    accept: (submission) => accept(app, findValidKey, submission),
  };
}

/** Accepts a message. The key may have been changed since the login. */
async function accept(
  app: SubmissionApp,
  findValidKey: () => Promise<PlannedKey>,
  submission: Submission,
): Promise<string> {
  const { blob, header, recipients } = submission;
  try {
    const key = await findValidKey();
    const caller = callerWith(key);
    const requireValidKey = async () => requireSameApproval(key, await findValidKey());
    const claim = readClaim(app, caller, submission);
    const { response } = await answerOnce(app, { caller, claim }, async () => {
      const simulatorOnly = isSimulatorOnly(app, recipients);
      for (const domain of senderDomainsOf(submission))
        await requireSender(app, caller, { domain, simulatorOnly });
      const sender = await requireSender(app, caller, { domain: header.from.domain, simulatorOnly });
      const rows = buildEmail(app, caller, { submission, sender, simulatorOnly });
      const prepared = { rows: [rows], acceptedRows: () => [rows], requireValidKey };
      return commitStored(app, { write: acceptEmail, input: { rows, idempotency: claim } }, prepared);
    });
    // The answer of an earlier message needs no bytes of this one.
    if (response.id !== submission.id) await app.blobs.discard(blob);
    return response.id;
  } catch (error) {
    if (error instanceof AppError) await app.blobs.discard(blob);
    throw isEndOfKey(error) ? new RefusedMessage(LOGIN_HAS_ENDED) : error;
  }
}

/** Returns true for the error of a key that has expired since the login, or was revoked. */
function isEndOfKey(error: unknown): boolean {
  return error instanceof AppError && error.code === 'invalid_api_key';
}

function isSimulatorOnly(
  { config }: Pick<SubmissionApp, 'config'>,
  recipients: readonly SubmittedRecipient[],
): boolean {
  return recipients.every(({ domain }) => isSimulatorDomain(config, domain));
}

/** Fields that some programs write anew when they hand over a message again. */
const REWRITTEN_FIELDS: ReadonlySet<string> = new Set(['date', 'message-id', 'received']);

/**
 * Returns the claim of a message by its field X-Service-Idempotency-Key, with which an application can hand it over again without sending
 * it twice; undefined when it has no key.
 * @throws AppError validation_error for an unusable key
 */
function readClaim(
  { clock }: Pick<App, 'clock'>,
  { domainId }: Pick<Caller, 'domainId'>,
  submission: Submission,
): IdempotencyClaim | undefined {
  const given = readIdempotencyKeys(submission.header.options.get(IDEMPOTENCY_FIELD) ?? []);
  if (given === undefined) return undefined;
  return {
    // Keys of one domain have Idempotency-Keys of their own, as in the API.
    key: domainId === null ? given : `${domainId}\n${given}`,
    requestHash: hashSubmission(submission),
    expiresAt: clock.now() + IDEMPOTENCY_WINDOW_MS,
  };
}

function hashSubmission({ envelope, recipients, header, givenHash }: Submission): string {
  const addresses = recipients.map(({ address }) => addressKey(address)).sort();
  const fields = header.fields.filter(({ name }) => !REWRITTEN_FIELDS.has(name)).map(({ text }) => text);
  // A hold counts as it was asked for, because that for a time ends later each time.
  const { hold = null, requireTls } = envelope;
  const parts = [addressKey(envelope.address), addresses, fields, givenHash, hold, requireTls];
  return createHash('sha256')
    .update(`SMTP ${JSON.stringify(parts)}`)
    .digest('hex');
}
