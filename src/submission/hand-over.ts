/**
 * Takes a message of a person that does not come by SMTP: the same sender addresses, limits and header rules hold as at port 587, and the
 * message is signed and queued in the same way.
 */
import { addressKey } from '../mail/address.ts';
import type { Reply } from '../mail/smtp/server/session.ts';
import type { Login } from '../mailboxes/credential.ts';
import { AppError, invalid } from '../system/errors.ts';
import { receiveSubmission } from './receive.ts';
import type { SenderApp } from './submission-app.ts';
import { domainOf, type Submission, type SubmittedRecipient } from './user.ts';
import { createMailboxUser } from './users/mailbox-user.ts';

type HandedOver = {
  /** IP address of the program. */
  address: string;
  /** Sender and recipients of the envelope, as addresses. */
  from: string;
  recipients: readonly string[];
  body: AsyncIterable<Uint8Array>;
  sizeBytes: number;
  once: Submission['once'];
};

/** Maximum number of recipients of a message, that of a transaction of SMTP (RFC 5321 section 4.5.3.1.8). */
export const MAX_RECIPIENTS = 100;

/**
 * Accepts a message once. It is on disk when it resolves.
 * @throws AppError validation_error, suppressed_recipient, domain_not_verified, rate_limited, quota_exceeded, restricted_api_key,
 * invalid_state with the reason for which the message itself is refused; unavailable; any error of `body`
 */
export async function handOver(
  app: SenderApp,
  login: Login,
  { address, from, recipients: to, body, sizeBytes, once }: HandedOver,
): Promise<void> {
  const user = createMailboxUser(app, login, address);
  const ended = await user.beginMessage();
  if (ended) throw new AppError('restricted_api_key', textOf(ended));
  const refused = await user.refuseSender({ address: from, domain: domainOf(from) });
  if (refused) throw invalid('from', textOf(refused));
  const recipients = new Map<string, SubmittedRecipient>();
  for (const one of to) {
    if (recipients.has(addressKey(one))) continue;
    if (recipients.size === MAX_RECIPIENTS)
      throw new AppError('validation_error', `A message has at most ${MAX_RECIPIENTS} recipients`);
    const recipient = { address: one, domain: domainOf(one), dsn: null };
    const reply = await user.refuseRecipient(recipient, recipients.size);
    if (reply) throw new AppError('suppressed_recipient', textOf(reply));
    recipients.set(addressKey(one), recipient);
  }
  const envelope = { address: from, sizeBytes, body: '8BITMIME', utf8: true, requireTls: false } as const;
  const client = { address, tls: undefined, protocol: 'HTTP' } as const;
  const reply = await receiveSubmission(
    app,
    { user, client, envelope, recipients: [...recipients.values()], once },
    body,
  );
  if (reply.code < 400) return;
  throw new AppError(reply.code < 500 ? 'unavailable' : 'invalid_state', textOf(reply));
}

function textOf({ text }: Reply): string {
  return typeof text === 'string' ? text : text.join(' ');
}
