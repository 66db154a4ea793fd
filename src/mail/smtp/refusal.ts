/**
 * The SMTP reply to each refusal of the product. A code without a reply does not compile. The protocol's own errors,
 * such as an unknown command, are not refusals and have replies of their own.
 */
import { AppError, type ErrorCode } from '../../system/errors.ts';

/** Code (RFC 5321 section 4.2.2) and status (RFC 3463). The class of the status is the first digit of the code. */
type ReplyCode = { code: number; status: `${4 | 5}.${number}.${number}` };

/**
 * Each code is one that MAIL, RCPT or the data may be answered with (RFC 5321 section 4.3.2), AUTH (RFC 4954 section
 * 6), or, as 421, any command.
 */
const REPLIES = {
  // X.6.0 is a problem of the content (RFC 3463 section 3.7).
  validation_error: { code: 550, status: '5.6.0' },
  missing_api_key: { code: 530, status: '5.7.0' },
  invalid_api_key: { code: 535, status: '5.7.8' },
  // X.7.1 is a sender that is not authorized (RFC 3463 section 3.8).
  restricted_api_key: { code: 550, status: '5.7.1' },
  domain_not_verified: { code: 550, status: '5.7.1' },
  suppressed_recipient: { code: 550, status: '5.7.1' },
  // X.1.1 is a mailbox that does not exist (RFC 3463 section 3.2).
  not_found: { code: 550, status: '5.1.1' },
  // X.5.1 is a command that is out of place, X.5.0 another problem of the protocol (RFC 3463 section 3.6).
  method_not_allowed: { code: 503, status: '5.5.1' },
  idempotency_conflict: { code: 550, status: '5.5.0' },
  idempotency_in_progress: { code: 451, status: '4.5.0' },
  // X.3.0 is a state of this system, X.3.4 a message that is too large for it (RFC 3463 section 3.4).
  already_exists: { code: 550, status: '5.3.0' },
  invalid_state: { code: 550, status: '5.3.0' },
  domain_in_use: { code: 550, status: '5.3.0' },
  payload_too_large: { code: 552, status: '5.3.4' },
  // X.4.2 is a connection that cannot complete the message (RFC 3463 section 3.5).
  request_timeout: { code: 421, status: '4.4.2' },
  // X.6.1 is a media type that is not supported (RFC 3463 section 3.7).
  unsupported_media_type: { code: 554, status: '5.6.1' },
  // X.7.0 is a policy (RFC 3463 section 3.8). A slower sender is accepted.
  rate_limited: { code: 451, status: '4.7.0' },
  // The quota of a sender is a policy, too, and becomes free again. X.2.2 would be a full mailbox of the recipient (RFC 3463 section 3.3).
  quota_exceeded: { code: 452, status: '4.7.0' },
  // X.3.2 is a system that accepts nothing at the moment (RFC 3463 section 3.4).
  unavailable: { code: 451, status: '4.3.2' },
  interrupted: { code: 451, status: '4.3.2' },
} as const satisfies Record<ErrorCode, ReplyCode>;

/** X.3.1 is a disk that is full (RFC 3463 section 3.4). */
const NO_STORAGE: ReplyCode = { code: 452, status: '4.3.1' };
/** A bug of ours. The client keeps the message and tries again later. */
const INTERNAL: ReplyCode = { code: 451, status: '4.3.0' };

/**
 * Returns the reply to any error. An error that is not a refusal says nothing about itself; the caller logs it.
 */
export function refusalReply(error: unknown): ReplyCode & { text: string } {
  if (!(error instanceof AppError))
    return { ...INTERNAL, text: 'The server failed to process the request; try again later' };
  const isFull = error.code === 'unavailable' && error.options.shortage === 'disk';
  return { ...(isFull ? NO_STORAGE : REPLIES[error.code]), text: error.message };
}
