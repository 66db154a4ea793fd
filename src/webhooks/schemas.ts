/**
 * Request and response shapes of webhook endpoints and their deliveries (specification 2.11, 4.12, api.md 1.8), and
 * which URLs may be posted to.
 */
import { type Static, Type } from 'typebox';
import type { WebhookEndpointRow } from '../db/tables.ts';
import { EVENT_TYPES, type EventType } from '../events/store.ts';
import { isoTime } from '../system/clock.ts';
import { AppError, invalid } from '../system/errors.ts';
import type { LoggedDelivery } from './deliveries/store.ts';

/** Longest URL accepted; what browsers and proxies commonly bear (RFC 9110 4.1 asks for at least 8000 of receivers). */
const MOST_URL_CHARACTERS = 2_048;
/** Repetitions are dropped, so this only bounds the work. */
const MOST_EVENTS = 100;
/** api.md 1.10, names. */
const MOST_DESCRIPTION_CHARACTERS = 200;

/**
 * Ports on which mail speaks: SMTP, POP3, IMAP and submission, with and without TLS (RFC 8314), and 2525, the common
 * stand-in for 587. A webhook must not talk to a mail server, this one least of all (security.md 2.26).
 */
const MAIL_PORTS: readonly string[] = ['25', '110', '143', '465', '587', '993', '995', '2525'];

const eventType = Type.Enum([...EVENT_TYPES]);

const url = Type.String({ maxLength: MOST_URL_CHARACTERS, description: 'Where events are posted; https.' });
const events = Type.Array(eventType, {
  minItems: 1,
  maxItems: MOST_EVENTS,
  description: 'What is posted.',
});
const description = Type.String({
  maxLength: MOST_DESCRIPTION_CHARACTERS,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
});

export const newEndpointSchema = Type.Object({ url, events, description: Type.Optional(description) });
export type NewEndpoint = Static<typeof newEndpointSchema>;

export const endpointChangeSchema = Type.Object({
  url: Type.Optional(url),
  events: Type.Optional(events),
  description: Type.Optional(Type.Union([description, Type.Null()], { description: 'Null clears it.' })),
  status: Type.Optional(
    Type.Enum(['enabled', 'disabled'], { description: 'Enabling forgets the failures so far.' }),
  ),
});
export type EndpointChange = Static<typeof endpointChangeSchema>;

const endpointFields = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  status: Type.Enum(['enabled', 'disabled']),
  disabledReason: Type.Union([Type.Enum(['manual', 'failures', 'gone']), Type.Null()]),
  disabledAt: Type.Union([Type.String(), Type.Null()]),
  failingSince: Type.Union([Type.String(), Type.Null()], {
    description: 'Since when no post has succeeded; null while they do.',
  }),
  description: Type.Union([Type.String(), Type.Null()]),
  createdAt: Type.String(),
  updatedAt: Type.String(),
};

export const endpointSchema = Type.Object(endpointFields);
export const createdEndpointSchema = Type.Object({
  ...endpointFields,
  secret: Type.String({ description: 'Signs every post. Shown this once.' }),
});

export function showEndpoint(row: WebhookEndpointRow): Static<typeof endpointSchema> {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as string[],
    status: row.status,
    disabledReason: row.disabledReason,
    disabledAt: isoTimeOrNull(row.disabledAt),
    failingSince: isoTimeOrNull(row.failingSince),
    description: row.description,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}

const nullableInteger = (text: string) => Type.Union([Type.Integer(), Type.Null()], { description: text });

const responseFields = {
  responseStatus: nullableInteger('HTTP status of the last answer; null: there was none.'),
  responseTimeMs: nullableInteger('How long that answer took.'),
  error: Type.Union([Type.String(), Type.Null()], { description: 'What went wrong.' }),
};

/** The type of the sample, from a body that may be left out: no schema can say that, since one makes a body required. */
export function readTestType(body: unknown): EventType {
  if (body === undefined) return 'email.delivered';
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('validation_error', 'The body must be an object');
  }
  const asked = 'type' in body ? body.type : 'email.delivered';
  const type = EVENT_TYPES.find((name) => name === asked);
  if (!type) throw invalid('type', `\`type\` must be one of ${EVENT_TYPES.join(', ')}`);
  return type;
}

export const testResultSchema = Type.Object({ delivered: Type.Boolean(), ...responseFields });
export type TestResult = Static<typeof testResultSchema>;

export const deliveryStatus = Type.Enum(['pending', 'delivered', 'failed', 'skipped']);

export const deliverySchema = Type.Object({
  id: Type.String(),
  eventId: Type.String(),
  eventType: Type.String(),
  status: deliveryStatus,
  attempts: Type.Integer({ description: 'Posts so far, one that is under way included.' }),
  ...responseFields,
  responseBody: Type.Union([Type.String(), Type.Null()], {
    description: 'The beginning of the last answer, at most 4 KB, read as UTF-8.',
  }),
  nextAttemptAt: Type.Union([Type.String(), Type.Null()], {
    description: 'Null when none is to come, and while one is under way.',
  }),
  createdAt: Type.String(),
});

export function showDelivery(row: LoggedDelivery): Static<typeof deliverySchema> {
  return {
    id: row.id,
    eventId: row.eventId,
    eventType: row.eventType,
    status: row.state,
    attempts: row.attempts,
    responseStatus: row.responseStatus,
    responseTimeMs: row.responseTimeMs,
    responseBody: row.responseBody,
    error: row.error,
    nextAttemptAt: row.epoch === null ? isoTimeOrNull(row.dueAt) : null,
    createdAt: isoTime(row.createdAt),
  };
}

/** Addresses are judged when a connection is opened, not here: what a name resolves to today says nothing of tomorrow. */
export function checkUrl(text: string, { allowHttp }: { allowHttp: boolean }): void {
  const url = /[\s\p{Cc}]/u.test(text) || !/^https?:\/\//i.test(text) ? null : URL.parse(text);
  if (!url) throw invalid('url', '`url` must be an absolute URL such as https://example.com/webhooks');
  if (url.protocol !== 'https:' && !allowHttp) throw invalid('url', '`url` must start with https://');
  if (url.username !== '' || url.password !== '') {
    throw invalid('url', '`url` must not hold a user name or password; every post is signed instead');
  }
  if (text.includes('#')) throw invalid('url', '`url` must not have a fragment');
  if (MAIL_PORTS.includes(url.port))
    throw invalid('url', `\`url\` must not use port ${url.port}, a mail port`);
}
