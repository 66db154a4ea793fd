/**
 * Schemas of the contacts API (specification 2.6 and 4.8). `fields.ts` checks the fields again, because imported files
 * do not pass through a schema.
 */
import { type Static, Type } from 'typebox';
import { PLAIN_TEXT } from '../../http/json/plain-text.ts';
import { MAX_TOPICS } from '../../topics/store.ts';
import { MAX_IP_CHARACTERS } from '../opt-in/consent.ts';
import { MAX_VALUE_CHARACTERS, PROPERTY_KEY, type PropertyValue } from './fields.ts';
import { MAX_PROPERTIES, MAX_PROPERTIES_BYTES } from './merge.ts';
import { forTextFields, TEXT_FIELDS } from './text-fields.ts';

const givenTexts = forTextFields((name) =>
  Type.Union([Type.String({ maxLength: TEXT_FIELDS[name].maxCharacters, pattern: PLAIN_TEXT }), Type.Null()]),
);

/** The schema of a value has a list of types rather than a union, which takes three times as long to check and to write. */
const givenValue = { maxLength: MAX_VALUE_CHARACTERS, pattern: PLAIN_TEXT };
const LIMITS = `At most ${MAX_PROPERTIES} of them, ${MAX_PROPERTIES_BYTES / 1024} KiB of JSON together.`;

const newProperties = Type.Unsafe<Record<string, PropertyValue>>({
  type: 'object',
  description: `Your own fields, for segments and merge tags. ${LIMITS}`,
  maxProperties: MAX_PROPERTIES,
  propertyNames: { pattern: PROPERTY_KEY },
  additionalProperties: { type: ['string', 'number', 'boolean'], ...givenValue },
});

const changedProperties = Type.Unsafe<Record<string, PropertyValue | null>>({
  type: 'object',
  description: `Merged with the present properties; null removes one. ${LIMITS}`,
  propertyNames: { pattern: PROPERTY_KEY },
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'], ...givenValue },
});

const subscription = Type.Enum(['opt_in', 'opt_out']);
const topics = Type.Array(Type.Object({ id: Type.String(), subscription }), {
  maxItems: MAX_TOPICS,
  description: 'Topics that are not named keep their choice, or the default of the topic.',
});

const fields = {
  email: Type.String({
    description: 'One address without a name; unique in its audience in any case of letters.',
  }),
  ...givenTexts,
  unsubscribed: Type.Boolean({
    description: 'True when the contact is unsubscribed from all marketing mail; default false.',
  }),
  topics,
};

const EXAMPLE_TOPICS = [{ id: 'top_01khq3z5vgxw1r8t6n2m4c9b7d', subscription: 'opt_in' }];
const EXAMPLE = {
  email: 'ada@example.com',
  ...forTextFields((name) => TEXT_FIELDS[name].example),
  unsubscribed: false,
  properties: { plan: 'pro', seats: 12, trial: false },
};

const newStatus = Type.Enum(['subscribed', 'pending'], {
  description:
    'With `pending`, the contact gets a confirmation mail from the sender in `optIn` of its audience, and no marketing mail before its reader has confirmed. Default `subscribed`. It applies to new contacts: nobody who has confirmed or left is changed by it, and a pending contact stays pending.',
});
const newConsent = Type.Object(
  {
    requestedIp: Type.String({
      maxLength: MAX_IP_CHARACTERS,
      description: 'IP address of the person who asked for the subscription, as the proof of it.',
    }),
  },
  { description: 'Only with the status `pending`.' },
);
const newFields = { ...fields, properties: newProperties, status: newStatus, consent: newConsent };

export const newContactSchema = Type.Object(
  { ...Type.Partial(Type.Object(newFields)).properties, email: fields.email },
  { examples: [EXAMPLE] },
);
export type NewContact = Static<typeof newContactSchema>;

export const contactChangeSchema = Type.Partial(Type.Object({ ...fields, properties: changedProperties }), {
  examples: [{ unsubscribed: true, properties: { plan: 'free', trial: null } }],
});

const textOrNull = Type.Union([Type.String(), Type.Null()]);

const consent = Type.Object(
  {
    requestedAt: Type.String(),
    source: Type.Enum(['api', 'import']),
    requestedIp: textOrNull,
    confirmedAt: textOrNull,
    confirmedIp: textOrNull,
    confirmedUserAgent: textOrNull,
    confirmedEmail: textOrNull,
  },
  { description: 'Proof of the consent of a contact that was created as pending; null for others.' },
);

const confirmation = Type.Object(
  {
    sentAt: Type.Union([Type.String(), Type.Null()], {
      description: 'Time at which the latest confirmation mail was requested.',
    }),
    count: Type.Integer({ description: 'Number of confirmation mails to the address, of all audiences.' }),
    nextAt: Type.Union([Type.String(), Type.Null()], {
      description:
        'From this time on, creating the contact again with `?upsert=true` sends another mail; null when there will be none, because the address got 3 of them, is suppressed or has left.',
    }),
  },
  { description: 'The confirmation mails of a pending contact; null for others.' },
);

export const CONTACT_STATUSES = ['subscribed', 'unsubscribed', 'pending'] as const;
export type ContactStatus = (typeof CONTACT_STATUSES)[number];
const STATUS = '`pending` until the reader has confirmed the subscription; no marketing mail is sent before.';

export const contactSchema = Type.Object(
  {
    id: Type.String(),
    audienceId: Type.String(),
    email: Type.String(),
    ...forTextFields(() => textOrNull),
    unsubscribed: Type.Boolean(),
    unsubscribedAt: Type.Union([Type.String(), Type.Null()]),
    properties: Type.Unsafe<Record<string, PropertyValue>>({
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean'] },
    }),
    topics: Type.Array(Type.Object({ id: Type.String(), subscription }), {
      description:
        'The topics for which a choice was made. For other topics, the default of the topic applies.',
    }),
    status: Type.Enum(CONTACT_STATUSES, { description: STATUS }),
    consent: Type.Union([consent, Type.Null()]),
    confirmation: Type.Union([confirmation, Type.Null()]),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  {
    title: 'Contact',
    examples: [
      {
        id: 'ct_01khq3z5vgxw1r8t6n2m4c9b7d',
        audienceId: 'aud_01khq3z5vgxw1r8t6n2m4c9b7d',
        ...EXAMPLE,
        unsubscribedAt: null,
        topics: EXAMPLE_TOPICS,
        status: 'subscribed',
        consent: null,
        confirmation: null,
        createdAt: '2026-03-01T09:00:00.000Z',
        updatedAt: '2026-03-01T09:00:00.000Z',
      },
    ],
  },
);
export type ShownContact = Static<typeof contactSchema>;
