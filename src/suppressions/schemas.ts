/** Shapes of the suppressions API (specification 2.9 and 4.10). */
import { type Static, Type } from 'typebox';

/** Maximum number of addresses in one batch. */
const MAX_IN_BATCH = 100;

const EMAIL = 'reader@example.com';
const reason = (description: string) =>
  Type.Enum(['manual', 'bounce', 'complaint', 'unsubscribe'], { description });

export const newSuppressionSchema = Type.Object(
  {
    email: Type.String({ description: 'One address. Letters are compared without case.' }),
    reason: Type.Optional(
      reason(
        'Reason; default manual. Of two reasons the stronger is kept: complaint, bounce, unsubscribe, manual.',
      ),
    ),
  },
  { examples: [{ email: EMAIL, reason: 'complaint' }] },
);
export type NewSuppression = Static<typeof newSuppressionSchema>;

const fields = {
  id: Type.String(),
  email: Type.String({ description: 'Address in lower case.' }),
  reason: reason('Reason why no mail is sent to the address.'),
  sourceEmailId: Type.Union([Type.String(), Type.Null()], {
    description: 'Email whose bounce or complaint suppressed the address; null when it was added otherwise.',
  }),
  diagnostic: Type.Union([Type.String(), Type.Null()], {
    description: 'Response of the receiving server.',
  }),
  createdAt: Type.String(),
};

const EXAMPLE = {
  id: 'sup_01khq3z5vgxw1r8t6n2m4c9b7d',
  email: EMAIL,
  reason: 'bounce',
  sourceEmailId: 'em_01khq3yt00q9v3n5s7w2k8d4fa',
  diagnostic: '550 5.1.1 no such user',
  createdAt: '2026-03-01T09:00:00.000Z',
};

export const suppressionSchema = Type.Object(fields, { title: 'Suppression', examples: [EXAMPLE] });

export const suppressionFilter = {
  email: Type.Optional(Type.String({ description: 'Only this address, in any case of letters.' })),
  reason: Type.Optional(reason('Only suppressions with this reason.')),
};

export const suppressionBatchSchema = Type.Object(
  { suppressions: Type.Array(newSuppressionSchema, { minItems: 1, maxItems: MAX_IN_BATCH }) },
  { examples: [{ suppressions: [{ email: EMAIL, reason: 'complaint' }, { email: 'other@example.com' }] }] },
);

const added = Type.Object({
  ...fields,
  created: Type.Boolean({ description: 'False when the address was suppressed already.' }),
});
const refused = Type.Object({ error: Type.Object({ type: Type.String(), message: Type.String() }) });

export const addedBatchSchema = Type.Object(
  {
    data: Type.Array(Type.Union([added, refused]), {
      description: 'One item for each given address, in the same order.',
    }),
  },
  {
    examples: [
      {
        data: [
          { ...EXAMPLE, created: true },
          { error: { type: 'validation_error', message: '`email` must be one address' } },
        ],
      },
    ],
  },
);

export const removalBatchSchema = Type.Object(
  { emails: Type.Array(Type.String(), { minItems: 1, maxItems: MAX_IN_BATCH }) },
  { examples: [{ emails: [EMAIL, 'other@example.com'] }] },
);
export type RemovalBatch = Static<typeof removalBatchSchema>;

export const removedBatchSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        email: Type.String({ description: 'Address as the request gave it.' }),
        deleted: Type.Boolean({ description: 'False when the address was not suppressed.' }),
      }),
      { description: 'One item for each given address, in the same order.' },
    ),
  },
  {
    examples: [
      {
        data: [
          { email: EMAIL, deleted: true },
          { email: 'other@example.com', deleted: false },
        ],
      },
    ],
  },
);
