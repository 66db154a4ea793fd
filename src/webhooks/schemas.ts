/** Request and response shapes of webhook endpoints (specification 2.11, 4.12). */
import { type Static, Type } from 'typebox';
import type { WebhookEndpointRow, WebhookFormat } from '../db/webhook-tables.ts';
import { EVENT_TYPES } from '../events/store.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';
import { MAX_URL_CHARACTERS } from './posting/destination.ts';

/** Maximum length of the list of events in a request. It bounds the work, because duplicates are dropped. */
const MAX_EVENTS = 100;
/** Maximum length of the description of an endpoint. */
const MAX_DESCRIPTION_CHARACTERS = 200;
/** Maximum overlap of secrets, one week: long enough to deploy a secret, short enough to end a leaked one. */
const MAX_OVERLAP_SECONDS = 604_800;

const eventType = Type.Enum([...EVENT_TYPES]);

const url = Type.String({
  maxLength: MAX_URL_CHARACTERS,
  description:
    'https URL to which events are posted, without user name and fragment, and not on a mail port.',
});
const events = Type.Array(eventType, {
  minItems: 1,
  maxItems: MAX_EVENTS,
  description: 'Types of events that are posted. Repeated types are dropped.',
});
const description = Type.String({
  maxLength: MAX_DESCRIPTION_CHARACTERS,
  pattern: PLAIN_TEXT,
  description: 'Text for your own use, without control characters.',
});

const descriptionOrNull = Type.Union([description, Type.Null()], {
  description: 'Text for your own use; null for none.',
});

const domainId = Type.Union([Type.String(), Type.Null()], {
  description:
    'Domain whose events alone are posted: those of its emails, its broadcasts, the mail that arrives there, and its state. Null: the ' +
    'events of the whole tenant. An endpoint that is made with an API key of one domain has that domain. It cannot be changed.',
});

const FORMATS = ['default', 'resend'] as const satisfies readonly WebhookFormat[];
const format = Type.Enum([...FORMATS], {
  description:
    'Shape of the posts. `resend`: that of the webhooks of Resend, with the header fields `svix-id`, `svix-timestamp` and `svix-signature`, for programs that were written for them. It cannot be changed.',
});

const EXAMPLE = {
  url: 'https://shop.example/webhooks/mail',
  events: ['email.delivered', 'email.bounced'] as const,
};

export const newEndpointSchema = Type.Object(
  {
    url,
    events,
    description: Type.Optional(descriptionOrNull),
    domainId: Type.Optional(domainId),
    format: Type.Optional(format),
  },
  { examples: [{ ...EXAMPLE, description: 'The shop' }] },
);
export type NewEndpoint = Static<typeof newEndpointSchema>;

export const endpointChangeSchema = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(events),
    description: Type.Optional(descriptionOrNull),
    status: Type.Optional(
      Type.Enum(['enabled', 'disabled'], {
        description: 'Enabling an endpoint forgets its failures so far.',
      }),
    ),
  },
  { examples: [{ status: 'enabled' }] },
);
export type EndpointChange = Static<typeof endpointChangeSchema>;

const time = Type.Union([Type.String(), Type.Null()]);

/** Field of what is posted to: how far its posts are behind. */
export const waitingSince = Type.Union([Type.String(), Type.Null()], {
  description: 'Time since which the oldest event waits to be posted; null when none waits.',
});

const endpointFields = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(eventType),
  status: Type.Enum(['enabled', 'disabled']),
  disabledReason: Type.Union([Type.Enum(['manual', 'failures', 'gone']), Type.Null()], {
    description: '`failures`: no post had succeeded for days; `gone`: the receiver answered 410.',
  }),
  disabledAt: time,
  failingSince: Type.Union([Type.String(), Type.Null()], {
    description: 'Time since which no post has succeeded; null while posts succeed.',
  }),
  suspendedUntil: Type.Union([Type.String(), Type.Null()], {
    description:
      'Time before which nothing is posted, because the last post failed. The first pause is a quarter of a second; it doubles with each failure, up to a minute. Null while posts succeed.',
  }),
  waitingSince,
  previousSecretExpiresAt: Type.Union([Type.String(), Type.Null()], {
    description: 'Time until which posts are also signed with the previous secret; null when they are not.',
  }),
  description: Type.Union([Type.String(), Type.Null()]),
  domainId,
  format,
  createdAt: Type.String(),
  updatedAt: Type.String(),
};

const SHOWN_EXAMPLE = {
  id: 'wh_01khq3z5vgxw1r8t6n2m4c9b7d',
  url: EXAMPLE.url,
  events: EXAMPLE.events,
  status: 'enabled',
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  suspendedUntil: null,
  waitingSince: null,
  previousSecretExpiresAt: null,
  description: 'The shop',
  domainId: null,
  format: 'default',
  createdAt: '2026-03-01T09:00:00.000Z',
  updatedAt: '2026-03-01T09:00:00.000Z',
};

export const endpointSchema = Type.Object(endpointFields, {
  title: 'WebhookEndpoint',
  examples: [SHOWN_EXAMPLE],
});

export const secretField = Type.String({
  description: 'Secret that signs every post. It is not shown again.',
});
export const EXAMPLE_SECRET = 'whsec_dGhpcyBpcyBhbiBleGFtcGxlLCBub3QgYSBzZWNyZXQ=';

/** Answer of the requests that create an endpoint or rotate its secret. */
export const secretEndpointSchema = Type.Object(
  { ...endpointFields, secret: secretField },
  { title: 'WebhookEndpointWithSecret', examples: [{ ...SHOWN_EXAMPLE, secret: EXAMPLE_SECRET }] },
);

/** Time at which the oldest post that waits was asked for, in Unix milliseconds; null when none waits. */
export type Lag = { waitingSince: number | null };

/** Returns an endpoint as the API shows it. */
export function showEndpoint(row: WebhookEndpointRow & Lag, nowMs: number): Static<typeof endpointSchema> {
  const { previousSecretUntil, suspendedUntil } = row;
  const overlaps = previousSecretUntil !== null && nowMs < previousSecretUntil;
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as NewEndpoint['events'],
    status: row.status,
    disabledReason: row.disabledReason,
    disabledAt: isoTimeOrNull(row.disabledAt),
    failingSince: isoTimeOrNull(row.failingSince),
    suspendedUntil: suspendedUntil !== null && suspendedUntil > nowMs ? isoTime(suspendedUntil) : null,
    waitingSince: isoTimeOrNull(row.waitingSince),
    previousSecretExpiresAt: overlaps ? isoTime(previousSecretUntil) : null,
    description: row.description,
    domainId: row.domainId,
    format: row.format,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/** Returns the time in ISO 8601; null for null. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}

export const rotationSchema = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OVERLAP_SECONDS,
        default: 0,
        description: 'Time for which posts are also signed with the previous secret, in seconds.',
      }),
    ),
  },
  { examples: [{ overlapSeconds: 86_400 }] },
);
export type Rotation = Static<typeof rotationSchema>;

const nullableInteger = (text: string) => Type.Union([Type.Integer(), Type.Null()], { description: text });

/** Fields about the answer to a post, for deliveries and for tests. */
export const responseFields = {
  responseStatus: nullableInteger('HTTP status of the last answer; null: there was none.'),
  responseTimeMs: nullableInteger('How long that answer took.'),
  error: Type.Union([Type.String(), Type.Null()], { description: 'Description of the error.' }),
};

export const testSchema = Type.Object(
  { type: Type.Optional(Type.Enum([...EVENT_TYPES], { default: 'email.delivered' })) },
  { examples: [{ type: 'email.bounced' }] },
);
export type TestBody = Static<typeof testSchema>;

export const testResultSchema = Type.Object(
  { delivered: Type.Boolean({ description: 'True when the receiver answered 2xx.' }), ...responseFields },
  {
    title: 'WebhookTestResult',
    examples: [{ delivered: true, responseStatus: 204, responseTimeMs: 84, error: null }],
  },
);
export type TestResult = Static<typeof testResultSchema>;
