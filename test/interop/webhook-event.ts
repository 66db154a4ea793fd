/** Finding an event among what a webhook receiver was posted. */
import type { ReceivedWebhook, WebhookReceiver } from '../support/webhook-receiver.ts';
import { until } from './until.ts';

export type WebhookEvent = {
  id: string;
  type: string;
  createdAt: string;
  data: { emailId: string; to: string; from: string } & Record<string, unknown>;
};

export function eventOf(webhook: ReceivedWebhook): WebhookEvent {
  return JSON.parse(webhook.body) as WebhookEvent;
}

/** The first post of this event of this email, once it has come. */
export function waitForEvent(
  receiver: WebhookReceiver,
  emailId: string,
  type: string,
): Promise<ReceivedWebhook> {
  return until(`webhook ${type}`, async () =>
    receiver.received.find((webhook) => {
      const event = eventOf(webhook);
      return event.type === type && event.data.emailId === emailId;
    }),
  );
}
