/** Describes each refusal for the document: when it occurs, and an example of its message. */
import type { Issue } from '../../../system/errors.ts';
import type { AnyCode } from '../../transport/refusal.ts';

type Refusal = {
  when: string;
  message: string;
  param?: string;
  issues?: readonly Issue[];
  details?: Readonly<Record<string, unknown>>;
};

export const REFUSALS: Readonly<Record<AnyCode, Refusal>> = {
  validation_error: {
    when: 'a field is missing, misspelled or not allowed; `param` names it.',
    message: '`limit` must be between 1 and 100',
    param: 'limit',
    issues: [{ path: 'limit', message: 'must be between 1 and 100' }],
  },
  missing_api_key: {
    when: 'the request has no API key.',
    message: 'Send your API key as "Authorization: Bearer <API_KEY>"',
  },
  invalid_api_key: {
    when: 'the API key is unknown, revoked or expired.',
    message: 'The API key is not valid',
  },
  restricted_api_key: {
    when: 'the permission or a limit of the API key does not allow the request.',
    message: 'This API key (read_only) does not permit this request',
  },
  not_found: {
    when: 'the resource does not exist, or belongs to another tenant.',
    message: 'Topic not found',
  },
  method_not_allowed: {
    when: 'the path has other methods, which `Allow` names.',
    message: 'PUT is not allowed here',
  },
  request_timeout: { when: 'the body arrived too slowly.', message: 'The body arrived too slowly' },
  idempotency_conflict: {
    when: 'a different request was sent with this Idempotency-Key within the last 24 hours.',
    message: 'This Idempotency-Key was used with another request',
  },
  idempotency_in_progress: {
    when: 'the first request with this Idempotency-Key is still running.',
    message: 'The first request with this Idempotency-Key is still in progress',
  },
  already_exists: {
    when: 'the resource exists already; `details.id` names it if it is yours.',
    message: 'The domain example.com exists already',
    details: { id: 'dom_01khq3z5vgxw1r8t6n2m4c9b7d' },
  },
  invalid_state: {
    when: 'the state of the resource does not allow the request.',
    message: 'Only scheduled emails can be canceled',
  },
  domain_in_use: {
    when: 'scheduled mail still needs the domain, or another account receives its mail.',
    message: 'Domain has 3 scheduled emails; cancel them or wait until they are sent',
    details: { scheduledEmails: 3, scheduledBroadcasts: 0 },
  },
  payload_too_large: { when: 'the body is too large.', message: 'The request body is too large' },
  unsupported_media_type: {
    when: 'the body has a media type that this route does not accept.',
    message: 'The body must be sent as application/json',
  },
  domain_not_verified: {
    when: 'the domain is not verified.',
    message: 'The domain example.com is not verified',
  },
  suppressed_recipient: { when: 'all recipients are suppressed.', message: 'All recipients are suppressed' },
  rate_limited: {
    when: 'the plan allows fewer requests per second.',
    message: 'Your plan allows 5 requests per second',
  },
  quota_exceeded: {
    when: 'the plan has no emails left this month, or the maximum number of emails and broadcasts waits for approval. Report it to a person instead of waiting: `Retry-After` is the time until the next month begins, or an hour.',
    message: 'Your plan allows 3000 emails per month; the next month begins at 2026-04-01T00:00:00.000Z',
  },
  internal_error: {
    when: 'the server failed; its log has the error with this `requestId`.',
    message: 'The server failed to process the request',
  },
  unavailable: {
    when: 'the server is overloaded, or has no memory or disk space for the request.',
    message: 'The server is overloaded; try again shortly',
  },
  interrupted: {
    when: 'a part of the server ended during the request, which may have been carried out. Look before you repeat a request that changes something.',
    message: 'A part of the server ended during the request, which may have been carried out',
  },
};
