/** Schemas of the reply of the simulator, as a request asks for it and as an answer shows it. */
import { type Static, Type } from 'typebox';
import { isoTime } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';
import type { SimulatorReply } from './store.ts';

/**
 * Maximum length of the text: a reply line has 512 octets with its code and its line break (RFC 5321 section 4.5.3.1.5), and an enhanced
 * code takes up to 10 of them.
 */
const MAX_TEXT_CHARACTERS = 480;
/** Printable ASCII and spaces: the `textstring` of a reply without tabs (RFC 5321 section 4.2). A line break would begin another reply. */
const REPLY_TEXT = '^[\\u0020-\\u007e]+$';
/** Replies that end a command (RFC 5321 section 4.2.1). The second digit of a code is 5 at most. */
const REPLY_CODE = /^[245][0-5][0-9]$/;
/** An enhanced status code (RFC 3463 section 2): numbers without leading zeros. */
const ENHANCED_CODE = '^[245]\\.(?:0|[1-9][0-9]{0,2})\\.(?:0|[1-9][0-9]{0,2})$';
const DEFAULT_TEXT = 'Simulated';

const RECIPIENTS = ['custom', 'all'] as const;

const EXAMPLE = { code: 452, enhancedCode: '4.2.2', text: 'Mailbox full', recipients: 'custom' } as const;

const codeSchema = Type.Integer({
  minimum: 200,
  maximum: 559,
  description: 'Reply code: 2yz accepts the email, 4yz defers it, 5yz refuses it.',
});
const recipientsSchema = (options: object) =>
  Type.Enum([...RECIPIENTS], {
    description:
      '`custom`: the reply is for `custom@simulator.HOSTNAME`, also with a label, as in `custom+ann`. `all`: for every recipient of test mail.',
    ...options,
  });

export const replyBodySchema = Type.Object(
  {
    code: codeSchema,
    enhancedCode: Type.Optional(
      Type.Union([Type.String({ pattern: ENHANCED_CODE }), Type.Null()], {
        description: 'Enhanced status code, such as `4.2.2`. Its first digit is that of the code.',
      }),
    ),
    text: Type.Optional(
      Type.String({
        maxLength: MAX_TEXT_CHARACTERS,
        pattern: REPLY_TEXT,
        default: DEFAULT_TEXT,
        description: 'Text of the reply: one line of printable ASCII.',
      }),
    ),
    recipients: Type.Optional(recipientsSchema({ default: 'custom' })),
  },
  { examples: [EXAMPLE] },
);
type ReplyBody = Static<typeof replyBodySchema>;

const shownSchema = Type.Object({
  code: codeSchema,
  enhancedCode: Type.Union([Type.String(), Type.Null()], { description: 'Enhanced status code.' }),
  text: Type.String({ description: 'Text of the reply.' }),
  recipients: recipientsSchema({}),
  updatedAt: Type.String({ description: 'Time at which the reply was set. ISO 8601, UTC.' }),
});

export const replySchema = Type.Object(
  {
    reply: Type.Union([shownSchema, Type.Null()], {
      description: 'The chosen reply. Null while the simulator answers as the addresses say.',
    }),
  },
  {
    title: 'SimulatorReply',
    examples: [{ reply: { ...EXAMPLE, updatedAt: '2026-03-01T09:00:00.000Z' } }],
  },
);

/**
 * Returns the reply that a request asks for.
 * @throws AppError validation_error
 */
export function readReply(body: ReplyBody, now: number): SimulatorReply {
  const { code, enhancedCode = null, text = DEFAULT_TEXT, recipients = 'custom' } = body;
  if (!REPLY_CODE.test(String(code)))
    throw invalid(
      'code',
      '`code` must be an SMTP reply code that begins with 2, 4 or 5, such as 250, 452 or 550',
    );
  if (enhancedCode !== null && !enhancedCode.startsWith(String(code).slice(0, 1)))
    throw invalid('enhancedCode', '`enhancedCode` must begin with the first digit of `code`');
  return { code, enhancedCode, text, recipients, updatedAt: now };
}

/** Returns a reply as answers show it. */
export function showReply(reply: SimulatorReply | undefined): Static<typeof replySchema> {
  if (!reply) return { reply: null };
  const { code, enhancedCode, text, recipients, updatedAt } = reply;
  return { reply: { code, enhancedCode, text, recipients, updatedAt: isoTime(updatedAt) } };
}
