/** Describes the events in the API document: the body of each post, and an example of it. */
import { Type } from 'typebox';
import { EVENT_TYPES, type EventType } from '../events/store.ts';
import type { WebhookDescription } from '../http/json/openapi.ts';
import { eventPayload } from './deliver.ts';
import { eventDataSchema } from './event-schemas.ts';
import { sampleData } from './sample.ts';

/** The time is fixed, since an example must not change with each start. */
const EXAMPLE_TIME_MS = Date.UTC(2026, 2, 1);
const EXAMPLE_ID = `evt_${'0'.repeat(26)}` as const;

const SUMMARIES: Readonly<Record<EventType, string>> = {
  'email.queued': 'An email was accepted for a recipient',
  'email.sent': 'The first delivery attempt began',
  'email.delivered': 'The receiving server accepted the email',
  'email.bounced': 'The email cannot be delivered to the recipient',
  'email.complained': 'The recipient reported the email as spam',
  'email.opened': 'The recipient opened the email',
  'email.clicked': 'The recipient followed a link in the email',
  'email.delivery_delayed': 'A delivery attempt failed and will be repeated',
  'email.suppressed': 'The address is on the suppression list, so nothing was sent',
  'email.canceled': 'The email was canceled for a recipient who was still waiting for it',
  'email.held': 'Delivery stopped until an operator releases the email, or a person approves it',
  'email.received': 'A message arrived for a route',
  'domain.verified': 'The DNS records of a domain were found correct',
  'domain.failed': 'The DNS records of a domain were not found, or no longer',
  'contact.created': 'A contact was created',
  'contact.updated': 'A contact was changed',
  'contact.deleted': 'A contact was deleted',
  'contact.unsubscribed': 'A contact unsubscribed from all marketing mail',
  'suppression.added': 'An address was added to the suppression list',
  'suppression.removed': 'An address was removed from the suppression list',
  'broadcast.sent': 'Every copy of a broadcast was tried',
  'broadcast.paused': 'A broadcast was paused, by its owner or by itself',
  'broadcast.failed': 'A scheduled broadcast could not start',
  'approval.requested': 'An email or a broadcast waits for the approval of a person',
  'approval.approved': 'An email or a broadcast was approved',
  'approval.declined': 'An email or a broadcast was declined',
  'approval.expired': 'Nobody has decided about an email or a broadcast in time',
  'approval.withdrawn':
    'An email or a broadcast was changed after its approval, or was canceled or sent without one',
};

/** Returns the description of every event for the API document. */
export function describeEvents(): WebhookDescription[] {
  return EVENT_TYPES.map(describeEvent);
}

function describeEvent(type: EventType): WebhookDescription {
  const schema = Type.Object(
    {
      id: Type.String({
        description:
          'Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it.',
      }),
      type: Type.Enum([type]),
      createdAt: Type.String({ description: 'When the event happened, in ISO 8601 and UTC.' }),
      mode: Type.Enum(['live', 'test']),
      data: eventDataSchema(type),
      test: Type.Optional(
        Type.Literal(true, { description: 'Present only in a test post, whose data is made up.' }),
      ),
    },
    { title: `${pascalCase(type)}Event` },
  );
  const data = JSON.stringify(sampleData(type, EXAMPLE_TIME_MS));
  const example = eventPayload({ id: EXAMPLE_ID, type, mode: 'live', createdAt: EXAMPLE_TIME_MS, data });
  return {
    name: type,
    tag: 'Webhooks',
    operationId: `receive${pascalCase(type)}`,
    schema,
    summary: SUMMARIES[type],
    description:
      'Sent to each endpoint that subscribes to the event. Every post is signed: compare `X-Service-Signature` with your own HMAC before you trust the body. Answer with 2xx within 15 seconds.',
    example: JSON.parse(example),
  };
}

/** Turns `email.delivery_delayed` into `EmailDeliveryDelayed`. */
function pascalCase(type: EventType): string {
  return type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
