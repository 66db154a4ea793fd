/** The calls about the posts to an endpoint, which Resend calls its events. Their ids are those of our deliveries. */
import { resendType } from '../../webhooks/resend-format.ts';
import type { Call } from './call.ts';
import { askPage, showPage } from './lists.ts';

type Delivery = {
  id: string;
  eventType: string;
  status: 'pending' | 'delivered' | 'failed' | 'skipped';
  nextAttemptAt: string | null;
  createdAt: string;
};

/** A delivery with the body of its post. */
type WholeDelivery = Delivery & { requestBody: string };

const STATUSES = {
  pending: 'pending',
  delivered: 'success',
  failed: 'failed',
  skipped: 'failed',
} as const satisfies Record<Delivery['status'], string>;

function showDelivery({ id, eventType, status, createdAt }: Delivery) {
  return { id, type: resendType(eventType), created_at: createdAt, status: STATUSES[status] };
}

function showWhole({ requestBody, ...delivery }: WholeDelivery) {
  return {
    object: 'webhook_event',
    ...showDelivery(delivery),
    next_attempt_at: delivery.nextAttemptAt,
    payload: JSON.parse(requestBody) as unknown,
  };
}

export const webhookEventCalls: readonly Call[] = [
  {
    at: 'GET /webhooks/:webhookId/events',
    operation: 'listWebhookDeliveries',
    ask: askPage,
    answer: showPage(showDelivery),
  },
  { at: 'GET /webhooks/:webhookId/events/:id', operation: 'getWebhookDelivery', answer: showWhole },
  {
    at: 'POST /webhooks/:webhookId/events/:id/replay',
    operation: 'replayWebhookDelivery',
    answer: ({ id }: Delivery) => ({ object: 'webhook_event', id }),
  },
];
