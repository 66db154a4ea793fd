/** The calls about webhooks. An endpoint that is made here gets events in Resend's shape. */
import { EVENT_TYPES } from '../../events/store.ts';
import { invalid } from '../../system/errors.ts';
import { resendType } from '../../webhooks/resend-format.ts';
import type { Call } from './call.ts';
import { fieldsOf, given, isGiven } from './fields.ts';
import { askPage, showPage } from './lists.ts';

type Endpoint = {
  id: string;
  url: string;
  events: readonly string[];
  status: string;
  createdAt: string;
};

const showId = ({ id }: Pick<Endpoint, 'id'>) => ({ object: 'webhook', id });
const showSecret = ({ id, secret }: { id: string; secret: string }) => ({
  object: 'webhook',
  id,
  signing_secret: secret,
});

function showEndpoint({ id, url, events, status, createdAt }: Endpoint) {
  const shown = [...new Set(events.map(resendType))];
  return { id, created_at: createdAt, status, endpoint: url, events: shown };
}

/**
 * Returns our events of Resend's names.
 * @throws AppError validation_error for an event that never happens here, so that nobody waits for it
 */
function readEvents(events: unknown): unknown {
  if (!Array.isArray(events)) return events;
  return events.flatMap((event: unknown) => {
    const types = EVENT_TYPES.filter((type) => resendType(type) === event);
    if (types.length > 0) return types;
    const known = [...new Set(EVENT_TYPES.map(resendType))].join(', ');
    throw invalid('events', `\`events\` has an event that this server does not post; it posts ${known}`);
  });
}

export const webhookCalls: readonly Call[] = [
  {
    at: 'POST /webhooks',
    operation: 'createWebhookEndpoint',
    ask({ body }) {
      const { endpoint, events } = fieldsOf(body);
      return { body: { ...given({ url: endpoint, events: readEvents(events) }), format: 'resend' } };
    },
    answer: showSecret,
  },
  { at: 'GET /webhooks', operation: 'listWebhookEndpoints', ask: askPage, answer: showPage(showEndpoint) },
  {
    at: 'GET /webhooks/:id',
    operation: 'getWebhookEndpoint',
    answer: (endpoint: Endpoint) => ({ object: 'webhook', ...showEndpoint(endpoint) }),
  },
  {
    at: 'PATCH /webhooks/:id',
    operation: 'updateWebhookEndpoint',
    ask({ body }) {
      const { endpoint, events, status } = fieldsOf(body);
      return {
        body: given({ url: endpoint, events: isGiven(events) ? readEvents(events) : undefined, status }),
      };
    },
    answer: showId,
  },
  {
    at: 'DELETE /webhooks/:id',
    operation: 'deleteWebhookEndpoint',
    answer: (_: undefined, { params }) => ({ object: 'webhook', id: params['id'], deleted: true }),
  },
  { at: 'POST /webhooks/:id/signing-secret/rotate', operation: 'rotateWebhookSecret', answer: showSecret },
];
