/** Refusals of the protocol itself, which parsers throw, and the response to each refusal of the product. */
import { AppError, type ErrorCode } from '../../system/errors.ts';
import type { Refusal } from './session.ts';

/** Completes a command with BAD, or with NO where RFC 9051 asks for it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly status: 'BAD' | 'NO';
  /** Response code with its arguments. */
  readonly code: string | undefined;

  constructor(status: 'BAD' | 'NO', text: string, code?: string) {
    super(text);
    this.status = status;
    this.code = code;
  }
}

/** Refuses a command that is malformed. */
export function bad(text: string, code?: string): never {
  throw new CommandError('BAD', text, code);
}

/**
 * The IMAP response to each refusal of the product. A code without a response does not compile. The protocol's own
 * errors, such as an unknown command, are not refusals and are answered BAD by the server itself.
 */

/** Response codes of RFC 9051 section 7.1; TOOBIG is that of RFC 4469 section 4.2 (RFC 7889 section 4). */
type ResponseCode =
  | 'ALREADYEXISTS'
  | 'AUTHENTICATIONFAILED'
  | 'CANNOT'
  | 'CLIENTBUG'
  | 'INUSE'
  | 'LIMIT'
  | 'NONEXISTENT'
  | 'NOPERM'
  | 'OVERQUOTA'
  | 'SERVERBUG'
  | 'TOOBIG'
  | 'UNAVAILABLE';

const RESPONSES = {
  validation_error: 'CANNOT',
  missing_api_key: 'AUTHENTICATIONFAILED',
  invalid_api_key: 'AUTHENTICATIONFAILED',
  restricted_api_key: 'NOPERM',
  domain_not_verified: 'NOPERM',
  suppressed_recipient: 'NOPERM',
  not_found: 'NONEXISTENT',
  method_not_allowed: 'CLIENTBUG',
  idempotency_conflict: 'CANNOT',
  idempotency_in_progress: 'INUSE',
  already_exists: 'ALREADYEXISTS',
  invalid_state: 'CANNOT',
  domain_in_use: 'INUSE',
  payload_too_large: 'TOOBIG',
  unsupported_media_type: 'CANNOT',
  rate_limited: 'LIMIT',
  quota_exceeded: 'OVERQUOTA',
  request_timeout: 'UNAVAILABLE',
  unavailable: 'UNAVAILABLE',
  interrupted: 'UNAVAILABLE',
} as const satisfies Record<ErrorCode, ResponseCode>;

/**
 * Maximum length of the text. It is for people; clients show it in a dialog. RFC 9051 sets no limit to it. Our own
 * limit.
 */
const MAX_TEXT_CHARACTERS = 400;

/** Returns the response to a failed command. An error that is not a refusal says nothing about itself; the caller logs it. */
export function refusalFor(error: unknown): Refusal {
  if (!(error instanceof AppError)) return refuse('SERVERBUG', 'The server failed to process the request');
  return refuse(RESPONSES[error.code], error.message);
}

/**
 * The text is printable ASCII here, because a client without UTF8=ACCEPT may read no other (RFC 9051 section 9,
 * `text`).
 */
function refuse(code: ResponseCode, text: string): Refusal {
  return { refused: 'NO', code, text: text.replace(/[^ -~]+/g, '?').slice(0, MAX_TEXT_CHARACTERS) };
}
