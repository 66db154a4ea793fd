/** Refusals as Resend's API shows them: `{ statusCode, name, message }`, with its names and its spelling of fields. */
import type { FastifyReply } from 'fastify';
import type { Problem } from '../../http/json/problem.ts';
import { type AnyCode, statusOf } from '../../http/transport/refusal.ts';
import { findReason } from './unsupported.ts';

type Shown = { name: string; statusCode?: number };

/** Names of Resend's API (its page about errors), by our codes. Without a status, ours is kept. */
const NAMES: Record<AnyCode, Shown> = {
  validation_error: { name: 'validation_error', statusCode: 422 },
  missing_api_key: { name: 'missing_api_key' },
  invalid_api_key: { name: 'invalid_api_key', statusCode: 403 },
  restricted_api_key: { name: 'restricted_api_key', statusCode: 401 },
  not_found: { name: 'not_found' },
  method_not_allowed: { name: 'method_not_allowed' },
  idempotency_conflict: { name: 'invalid_idempotent_request' },
  idempotency_in_progress: { name: 'concurrent_idempotent_requests' },
  already_exists: { name: 'validation_error' },
  invalid_state: { name: 'validation_error' },
  domain_in_use: { name: 'validation_error' },
  request_timeout: { name: 'application_error' },
  payload_too_large: { name: 'validation_error' },
  unsupported_media_type: { name: 'validation_error' },
  domain_not_verified: { name: 'validation_error', statusCode: 403 },
  suppressed_recipient: { name: 'validation_error' },
  rate_limited: { name: 'rate_limit_exceeded' },
  quota_exceeded: { name: 'monthly_quota_exceeded' },
  internal_error: { name: 'internal_server_error' },
  unavailable: { name: 'application_error' },
  interrupted: { name: 'application_error' },
};

/** Names of refusals of single fields, by the beginning of the field. */
const FIELDS: readonly (readonly [pattern: RegExp, shown: Shown])[] = [
  [/^Idempotency-Key$/, { name: 'invalid_idempotency_key', statusCode: 400 }],
  [/^(?:emails\[\d+\]\.)?from$/, { name: 'invalid_from_address' }],
  [/^(?:emails\[\d+\]\.)?attachments\b/, { name: 'invalid_attachment' }],
];

/** Returns a refusal in Resend's shape, and sets its status. A call that no operation answers is not found, for the reason that it has. */
export function showProblem(reply: FastifyReply, { error }: Problem) {
  const { type, message } = error;
  const isUnknown = type === 'not_found' || type === 'method_not_allowed';
  const reason = isUnknown ? findReason(reply.request) : undefined;
  if (reason !== undefined) {
    reply.code(404).removeHeader('allow');
    return { statusCode: 404, name: 'not_found', message: reason };
  }
  const { name, statusCode = statusOf(type) } = { ...NAMES[type], ...ofField(error) };
  reply.code(statusCode);
  return { statusCode, name, message: inTheirSpelling(message) };
}

function ofField({ type, message, param = '' }: Problem['error']): Shown | undefined {
  if (type !== 'validation_error') return undefined;
  if (message.endsWith('is required')) return { name: 'missing_required_field' };
  return FIELDS.find(([pattern]) => pattern.test(param))?.[1];
}

/** Fields whose names differ in more than their spelling. */
const FIELD_NAMES: ReadonlyMap<string, string> = new Map([
  ['templateId', 'template.id'],
  ['variables', 'template.variables'],
  ['startingAfter', 'after'],
  ['url', 'endpoint'],
  ['endingBefore', 'before'],
]);

/** Returns a message with the fields in backticks as Resend spells them: `replyTo` becomes `reply_to`. */
export function inTheirSpelling(message: string): string {
  return message.replace(
    /`([a-z][A-Za-z]*)((?:\[\d+\]|\.[A-Za-z]+)*)`/g,
    (_, field: string, rest: string) => {
      const name = FIELD_NAMES.get(field) ?? snakeCase(field);
      return `\`${name}${snakeCase(rest)}\``;
    },
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
