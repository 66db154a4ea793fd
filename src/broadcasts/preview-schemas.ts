/** Schemas of the routes that show what a broadcast will be, before it is sent. */
import { type Static, Type } from 'typebox';
import type { Preflight } from './preflight/preflight.ts';
import type { BroadcastPreview } from './preflight/preview.ts';
import { WARNING_CODES } from './preflight/warnings.ts';

/** Maximum number of addresses that one test is sent to. */
const MAX_TEST_ADDRESSES = 10;

const TEST_TO = 'Ada <delivered+ada@simulator.localhost>';

export const testBodySchema = Type.Object(
  {
    to: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: MAX_TEST_ADDRESSES,
      description: `Up to ${MAX_TEST_ADDRESSES} addresses. Each gets an email of its own, and a repeated address gets one.`,
    }),
    contactId: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'Contact of the audience whose values fill in the merge tags. Without a contact, their fallbacks do.',
      }),
    ),
  },
  { examples: [{ to: [TEST_TO] }] },
);
export type TestBody = Static<typeof testBodySchema>;

const testResultSchema = Type.Object({
  to: Type.String({ description: 'Address, as the request named it.' }),
  id: Type.Union([Type.String(), Type.Null()], { description: 'Id of the email; null when it was refused.' }),
  status: Type.Enum(['queued', 'failed']),
  error: Type.Optional(
    Type.Object(
      { type: Type.String(), message: Type.String() },
      { description: 'Why the email was refused. Absent when it was accepted.' },
    ),
  ),
});

export const testAnswerSchema = Type.Object(
  { data: Type.Array(testResultSchema, { description: 'One item for each address.' }) },
  {
    title: 'BroadcastTest',
    examples: [{ data: [{ to: TEST_TO, id: 'em_01khq3z5vgxw1r8t6n2m4c9b7d', status: 'queued' }] }],
  },
);

const count = (description: string) => Type.Integer({ description });

const excludedSchema = Type.Object(
  {
    suppressed: count('Contacts whose address is on the suppression list.'),
    unsubscribed: count('Contacts who have unsubscribed from all marketing mail.'),
    optedOut: count('Contacts who have opted out of the topic.'),
    notOptedIn: count('Contacts without a choice, when the topic is off by default.'),
  },
  { description: 'Who does not get the broadcast, each contact under the first reason that applies.' },
);

const sampleSchema = Type.Object(
  {
    contactId: Type.Union([Type.String(), Type.Null()], {
      description:
        'The newest contact that gets the broadcast. Null when nobody does: fallbacks fill in the merge tags.',
    }),
    subject: Type.String({ description: 'Subject for this contact.' }),
    sizeBytes: count(
      'Size of the whole message as it leaves, with its header, its signature and its encoding.',
    ),
    htmlBytes: count('Size of the HTML for this contact.'),
  },
  { description: 'The broadcast as one contact would get it.' },
);

export const preflightSchema = Type.Object(
  {
    contacts: count('Contacts of the audience or the segment.'),
    recipients: count('Contacts that get the broadcast if it is sent now.'),
    excluded: excludedSchema,
    sample: sampleSchema,
    links: Type.Array(
      Type.Object({
        url: Type.String({ description: 'Address as it is written, with its placeholders.' }),
        isTracked: Type.Boolean({ description: 'True when clicks on the link are counted.' }),
      }),
      {
        description:
          'The web links of the HTML in their order, without the link to unsubscribe. At most 1,000.',
      },
    ),
    warnings: Type.Array(
      Type.Object({
        code: Type.Enum([...WARNING_CODES], { description: 'Name of the warning, for programs.' }),
        message: Type.String({ description: 'What may go wrong, and what helps.' }),
      }),
      { description: 'What may go wrong. The broadcast can be sent nevertheless.' },
    ),
  },
  {
    title: 'BroadcastPreflight',
    examples: [
      {
        contacts: 1_200,
        recipients: 1_170,
        excluded: { suppressed: 10, unsubscribed: 15, optedOut: 5, notOptedIn: 0 },
        sample: {
          contactId: 'ct_01khq3z5vgxw1r8t6n2m4c9b7d',
          subject: 'What is new, Ada',
          sizeBytes: 21_480,
          htmlBytes: 18_230,
        },
        links: [{ url: 'https://shop.example/spring?for={{firstName}}', isTracked: true }],
        warnings: [
          {
            code: 'no_topic',
            message:
              'Without `topicId`, readers can only unsubscribe from all marketing mail, not from this kind alone',
          },
        ],
      },
    ],
  },
);

/** Returns a preflight as the API shows it. */
export function showPreflight({ reach, sample, links, warnings }: Preflight): Static<typeof preflightSchema> {
  const { receives, newest: _, ...excluded } = reach;
  const contacts = Object.values(excluded).reduce((sum, one) => sum + one, receives);
  return { contacts, recipients: receives, excluded, sample, links, warnings };
}

export const previewQuery = Type.Object({
  contact: Type.Optional(
    Type.String({
      description:
        'Id or address of a contact of the audience. Without it, the newest contact of the audience; without contacts, fallbacks ' +
        'fill in the merge tags.',
    }),
  ),
});
export type PreviewQuery = Static<typeof previewQuery>;

export const previewSchema = Type.Object(
  {
    contactId: Type.Union([Type.String(), Type.Null()], {
      description: 'The contact; null when the audience has none.',
    }),
    email: Type.Union([Type.String(), Type.Null()], { description: 'Address of the contact.' }),
    subject: Type.String(),
    html: Type.String(),
    text: Type.String({ description: 'The text part, which is generated from the HTML when there is none.' }),
  },
  {
    title: 'BroadcastPreview',
    examples: [
      {
        contactId: 'ct_01khq3z5vgxw1r8t6n2m4c9b7d',
        email: 'ada@example.com',
        subject: 'What is new, Ada',
        html: '<p>Hello Ada!</p><p><a href="#unsubscribe">Unsubscribe</a></p>',
        text: 'Hello Ada!',
      },
    ],
  },
);

/** Returns a preview as the API shows it. */
export function showPreview({ contact, ...texts }: BroadcastPreview): Static<typeof previewSchema> {
  return { contactId: contact?.id ?? null, email: contact?.email ?? null, ...texts };
}
