/** Request and response shapes of the log of deliveries. */
import { type Static, Type } from 'typebox';
import { isoTime, parseTimestamp } from '../../system/clock.ts';
import { invalid } from '../../system/errors.ts';
import { isoTimeOrNull, responseFields } from '../schemas.ts';
import { MAX_COUNTED, type Replay } from './replay.ts';
import type { LoggedDelivery } from './store.ts';

const STATES = ['pending', 'delivered', 'failed', 'skipped'] as const;

export const deliveryFilter = {
  status: Type.Optional(Type.Enum([...STATES], { description: 'Only deliveries in this state.' })),
};

const deliveryFields = {
  id: Type.String(),
  eventId: Type.String(),
  eventType: Type.String(),
  status: Type.Enum([...STATES], {
    description:
      '`skipped`: the delivery was not posted, or not posted again, because the endpoint is disabled.',
  }),
  attempts: Type.Integer({
    description: 'Number of posts so far, a running one included. A replay begins at 0.',
  }),
  ...responseFields,
  responseBody: Type.Union([Type.String(), Type.Null()], {
    description: 'Beginning of the last response, at most 4 KB, read as UTF-8.',
  }),
  nextAttemptAt: Type.Union([Type.String(), Type.Null()], {
    description: 'Time of the next post; null when there is none, and while a post is running.',
  }),
  createdAt: Type.String(),
};

const EXAMPLE = {
  id: 'whd_01khq3z5vgxw1r8t6n2m4c9b7d',
  eventId: 'evt_01khq3z5vfq4t2c8y6m1n9b3kd',
  eventType: 'email.delivered',
  status: 'failed',
  attempts: 8,
  responseStatus: 503,
  responseTimeMs: 120,
  error: 'The receiver answered 503',
  responseBody: 'Down for maintenance',
  nextAttemptAt: null,
  createdAt: '2026-03-01T09:00:00.000Z',
};
const EXAMPLE_REQUEST_BODY =
  '{"id":"evt_01khq3z5vfq4t2c8y6m1n9b3kd","type":"email.delivered","createdAt":"2026-03-01T09:00:00.000Z","mode":"live",' +
  '"data":{"emailId":"em_01khq3z4a2n7d5x8k3r6w1t9hb","to":"ann@example.org","from":"shop@example.com"}}';

export const deliverySchema = Type.Object(deliveryFields, { title: 'WebhookDelivery', examples: [EXAMPLE] });

export const wholeDeliverySchema = Type.Object(
  {
    ...deliveryFields,
    requestBody: Type.String({ description: 'Exact body of the post, which the signature covers.' }),
  },
  { title: 'WebhookDeliveryWithBody', examples: [{ ...EXAMPLE, requestBody: EXAMPLE_REQUEST_BODY }] },
);

export type WholeDelivery = LoggedDelivery & { requestBody: string };

/** Returns a delivery as the list shows it. */
export function showDelivery(row: LoggedDelivery): Static<typeof deliverySchema> {
  return {
    id: row.id,
    eventId: row.eventId,
    eventType: row.eventType,
    status: row.state,
    attempts: row.attempts,
    responseStatus: row.responseStatus,
    responseTimeMs: row.responseTimeMs,
    error: row.error,
    responseBody: row.responseBody,
    nextAttemptAt: row.runId === null ? isoTimeOrNull(row.dueAt) : null,
    createdAt: isoTime(row.createdAt),
  };
}

/** Returns a delivery with its bodies as the API shows it. */
export function showWholeDelivery(row: WholeDelivery): Static<typeof wholeDeliverySchema> {
  return { ...showDelivery(row), requestBody: row.requestBody };
}

const REPLAYED = ['failed', 'skipped'] as const;

const replayFields = {
  since: Type.String({
    description: 'Time in ISO 8601 with an offset; only deliveries created then or later.',
  }),
  status: Type.Optional(Type.Enum([...REPLAYED], { description: 'State of the deliveries; default both.' })),
};

export const replaySchema = Type.Object(replayFields, {
  examples: [{ since: '2026-03-01T09:00:00Z', status: 'failed' }],
});

/** The query of the count of a replay. All deliveries that are still stored are counted when `since` is absent. */
export const replayCountQuery = Type.Object({
  since: Type.Optional(replayFields.since),
  status: replayFields.status,
  maximum: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_COUNTED,
      default: MAX_COUNTED,
      description: 'Number at which counting stops.',
    }),
  ),
});

/**
 * Returns the replay that a request asks for.
 * @throws AppError validation_error
 */
export function readReplay({ since: text, status }: Partial<Static<typeof replaySchema>>): Replay {
  const since = text === undefined ? 0 : parseTimestamp(text);
  if (since === undefined) {
    throw invalid('since', '`since` must be an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z');
  }
  return { since, states: status === undefined ? REPLAYED : [status] };
}

export const replayResultSchema = Type.Object(
  {
    count: Type.Integer({
      description: `Number of deliveries that are posted again; ${MAX_COUNTED} means that many or more.`,
    }),
  },
  { title: 'WebhookReplay', examples: [{ count: 42 }] },
);

export const replayCountSchema = Type.Object(
  { count: Type.Integer({ description: 'Number of deliveries; `maximum` means that many or more.' }) },
  { title: 'WebhookReplayCount', examples: [{ count: 42 }] },
);
