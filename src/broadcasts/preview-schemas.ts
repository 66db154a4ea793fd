/** Schemas of the routes that show what a broadcast will be, before it is sent. */
import { type Static, Type } from 'typebox';

/** Maximum number of addresses that one test is sent to. Our own limit. */
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
