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
    summary: `\`${type}\` is posted to endpoints that ask for it`,
    description:
      'Every post is signed: compare `X-Service-Signature` with your own HMAC before you trust the body. Answer 2xx within 15 seconds.',
    example: JSON.parse(example),
  };
}

/** Turns `email.delivery_delayed` into `EmailDeliveryDelayed`. */
function pascalCase(type: EventType): string {
  return type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
