/** Schemas of what a mailbox does with its mail by itself: the automatic reply, forwarding, and rules. */
import { type Static, Type } from 'typebox';
import { PLAIN_TEXT } from '../../http/json/plain-text.ts';

/** Maximum lengths of the texts. */
const MAX_SUBJECT_CHARACTERS = 200;
const MAX_TEXT_CHARACTERS = 10_000;
const MAX_NAME_CHARACTERS = 100;
const MAX_VALUE_CHARACTERS = 500;
/** Maximum number of rules, and of conditions of a rule. */
const MAX_RULES = 100;
const MAX_CONDITIONS = 20;
/** Maximum number of addresses that mail is forwarded to: that of the redirects of a message, which is our own limit. */
const MAX_FORWARDS = 4;

const text = (maxLength: number, options: { minLength?: number; description?: string } = {}) =>
  Type.String({ maxLength, pattern: PLAIN_TEXT, ...options });
const time = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Null()], { description }));

const vacation = Type.Object(
  {
    from: time('Time from which on senders get the reply, as ISO 8601; at once when it is missing or null.'),
    until: time('Time from which on nobody gets it any more; no end when it is missing or null.'),
    subject: Type.Optional(
      Type.Union([text(MAX_SUBJECT_CHARACTERS), Type.Null()], {
        description:
          'Subject of the reply; that of the message, with "Auto: " in front, when it is missing or null.',
      }),
    ),
    text: Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARACTERS, description: 'Text of the reply.' }),
  },
  { additionalProperties: false },
);
export type Vacation = Static<typeof vacation>;

const condition = Type.Object(
  {
    field: Type.Enum(['from', 'to', 'subject', 'header', 'body', 'larger', 'smaller'], {
      description:
        '`to` is To and Cc; `header` is the field named in `header`; `larger` and `smaller` compare the size with a number of bytes.',
    }),
    header: Type.Optional(text(MAX_NAME_CHARACTERS)),
    operator: Type.Optional(
      Type.Enum(['contains', 'is', 'startsWith', 'endsWith'], {
        description:
          'How the field is compared with the value: `contains` by default. Letters are compared without case.',
      }),
    ),
    value: text(MAX_VALUE_CHARACTERS, { minLength: 1 }),
    not: Type.Optional(
      Type.Boolean({ description: 'True when the condition holds where it otherwise would not.' }),
    ),
  },
  { additionalProperties: false },
);
export type Condition = Static<typeof condition>;

const rule = Type.Object(
  {
    name: Type.Optional(text(MAX_NAME_CHARACTERS)),
    match: Type.Optional(
      Type.Enum(['all', 'any'], {
        description: 'Whether all conditions must hold, which is the default, or any of them.',
      }),
    ),
    conditions: Type.Array(condition, {
      maxItems: MAX_CONDITIONS,
      description: 'Without any, the rule is for all mail.',
    }),
    fileInto: Type.Optional(
      text(MAX_VALUE_CHARACTERS, {
        minLength: 1,
        description: 'Folder for the message, which is created when it is missing.',
      }),
    ),
    markRead: Type.Optional(Type.Boolean()),
    star: Type.Optional(Type.Boolean()),
    forwardTo: Type.Optional(Type.String({ description: 'Address that gets a copy.' })),
    discard: Type.Optional(Type.Boolean({ description: 'Deletes the message.' })),
    stop: Type.Optional(
      Type.Boolean({ description: 'True, which is the default, when no later rule looks at the message.' }),
    ),
  },
  { additionalProperties: false },
);
export type Rule = Static<typeof rule>;

/** Fields of a mailbox about what it does with its mail. */
export const filterFields = {
  vacation: Type.Union([vacation, Type.Null()], {
    description:
      'Automatic reply, which a sender gets once in 7 days. Mailing lists, programs and spam get none, and neither does mail that does not name the address of the mailbox in To or Cc.',
  }),
  forwardTo: Type.Array(Type.String(), {
    maxItems: MAX_FORWARDS,
    description: 'Addresses that all mail of the mailbox is forwarded to.',
  }),
  keepCopy: Type.Boolean({
    description: 'False when mail that is forwarded is not stored. The rules are then not applied.',
  }),
  rules: Type.Array(rule, {
    maxItems: MAX_RULES,
    description:
      'Rules for new mail, in their order. They come before the script that the owner has made active by ManageSieve, which gets the mail that they leave in the inbox.',
  }),
};
