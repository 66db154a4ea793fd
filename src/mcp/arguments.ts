/** Schemas of the arguments that several tools share. Every text and every list has a maximum. */
import { type TSchema, Type } from 'typebox';

/** Maximum length of an id: a prefix and 26 characters. */
const MAX_ID_CHARACTERS = 64;
/** Maximum length of an address with a name (RFC 5321 section 4.5.3.1: 64 and 255 octets, and the @ between them). */
const MAX_MAILBOX_CHARACTERS = 512;
/** Maximum length of a subject: that of a line in a message (RFC 5322 section 2.1.1). */
const MAX_SUBJECT_CHARACTERS = 998;
/** Maximum length of a text or of HTML. The API accepts more, but an agent writes every letter of it itself. */
const MAX_BODY_CHARACTERS = 200_000;
/** Maximum length of a time, an idempotency key and the like. */
const MAX_VALUE_CHARACTERS = 256;
/** Maximum number of items that a list of a tool shows. */
const MAX_ITEMS = 25;
const DEFAULT_ITEMS = 10;

export const idArgument = (prefix: string, description: string) =>
  Type.String({
    maxLength: MAX_ID_CHARACTERS,
    pattern: `^${prefix}_[0-9a-z]+$`,
    description: `${description} Its id begins with ${prefix}_.`,
  });

export const addressArgument = (description: string) =>
  Type.String({ minLength: 3, maxLength: MAX_MAILBOX_CHARACTERS, description });

export const addressesArgument = (maxItems: number, description: string) =>
  Type.Array(addressArgument('Address, `a@b` or `Name <a@b>`.'), { minItems: 1, maxItems, description });

export const subjectArgument = (description: string) =>
  Type.String({ minLength: 1, maxLength: MAX_SUBJECT_CHARACTERS, description });

export const bodyArgument = (description: string) =>
  Type.String({ minLength: 1, maxLength: MAX_BODY_CHARACTERS, description });

export const valueArgument = (description: string) =>
  Type.String({ minLength: 1, maxLength: MAX_VALUE_CHARACTERS, description });

export const timeArgument = (description: string) =>
  valueArgument(`${description} In ISO 8601 with an offset, such as 2026-01-31T12:00:00Z.`);

/** Returns a schema of one of some words. */
export const oneOf = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Enum([...words], { type: 'string', description });

export const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);

export const idempotencyKeyArgument = Type.Optional(
  valueArgument(
    'Repeat the call with the key of its answer, or choose one: the same call with the same key sends only once. A new key is made when it is absent.',
  ),
);

/** Arguments of tools that show a page of a list, the newest items first. */
export const pageArguments = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ITEMS,
      default: DEFAULT_ITEMS,
      description: 'Number of items.',
    }),
  ),
  startingAfter: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_VALUE_CHARACTERS,
      description: 'The `nextCursor` of an answer, to see older items.',
    }),
  ),
};

/** Where the shown part of a long text begins. */
export const offsetArgument = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 100_000_000, description: 'Where the shown part of the text begins.' }),
);

/** Values for the variables of a template. */
export const variablesArgument = Type.Optional(
  Type.Record(
    Type.String({ pattern: '^[A-Za-z0-9_]{1,64}$' }),
    Type.Union([Type.String({ maxLength: 10_000 }), Type.Number(), Type.Boolean(), Type.Null()]),
    {
      maxProperties: 100,
      additionalProperties: false,
      description: 'Values for the variables of the template.',
    },
  ),
);
