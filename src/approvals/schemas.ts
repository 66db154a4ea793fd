/** Schemas of `/v1/approvals`, and of what emails and broadcasts show of their approval. */
import { type Static, type TSchema, Type } from 'typebox';
import type { ApprovalRow, ApprovalState } from '../db/approval-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';

const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** Length of a SHA-256 hash in hex. */
const HASH_CHARACTERS = 64;
/** Maximum length of the words of the one who declines. */
const MAX_REASON_CHARACTERS = 500;

export const STATES = [
  'pending',
  'approved',
  'declined',
  'expired',
  'withdrawn',
] as const satisfies readonly ApprovalState[];
const KINDS = ['email', 'broadcast'] as const satisfies readonly ApprovalRow['kind'][];

const state = {
  state: Type.Enum([...STATES], {
    description:
      '`pending`: a person has to decide. `expired`: nobody has decided in time. `withdrawn`: the mail was approved and has changed since, ' +
      'was canceled, or was sent by a key that needs no approval.',
  }),
  hash: Type.String({
    description:
      'Hash of the content, the audience and the time. A decision names it, so that nothing else is approved than what was read. It changes ' +
      'with the mail.',
  }),
  expiresAt: Type.String({
    description:
      'Time until which a person can decide. Then the email is canceled, and the broadcast is a draft, unless it is scheduled for a time that needs no approval.',
  }),
  decidedAt: orNull(Type.String(), 'Time of the decision, or of the end without one.'),
  reason: orNull(Type.String(), 'Words of the one who has declined.'),
};

const approval = {
  id: Type.String(),
  kind: Type.Enum([...KINDS]),
  emailId: orNull(Type.String(), 'The email that asks for approval.'),
  broadcastId: orNull(Type.String(), 'The broadcast that asks for approval.'),
  ...state,
  keyId: Type.String({ description: 'The API key whose mail waits.' }),
  from: Type.String({ description: 'Sender of the mail.' }),
  subject: Type.String({ description: 'Subject of the mail.' }),
  sendAt: orNull(
    Type.String(),
    'Time at which the mail is to be sent; null means as soon as it is approved.',
  ),
  decidedBy: orNull(Type.String(), 'Id of the key or of the person that has approved or declined.'),
  createdAt: Type.String({ description: 'Time at which approval was asked for first.' }),
};

const EXAMPLE_STATE = {
  state: 'pending',
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  expiresAt: '2026-03-04T09:00:00.000Z',
  decidedAt: null,
  reason: null,
};

const EXAMPLE = {
  id: 'apr_01khq3z5vgxw1r8t6n2m4c9b7d',
  kind: 'email',
  emailId: 'em_01khq3z5vgxw1r8t6n2m4c9b7d',
  broadcastId: null,
  ...EXAMPLE_STATE,
  keyId: 'key_01khq3z5vgxw1r8t6n2m4c9b7d',
  from: 'Ada <ada@example.com>',
  subject: 'Your order is on its way',
  sendAt: null,
  decidedBy: null,
  createdAt: '2026-03-01T09:00:00.000Z',
};

export const approvalSchema = Type.Object(approval, { title: 'Approval', examples: [EXAMPLE] });
export type ShownApproval = Static<typeof approvalSchema>;

/** Fields of an approval that its email or its broadcast shows. */
const approvalStateSchema = Type.Object(state);
export type ShownApprovalState = Static<typeof approvalStateSchema>;

/** The approval of an email that was just accepted. */
export const approvalOfAccepted = Type.Optional(
  Type.Object(state, { description: 'Present when the email waits for approval.' }),
);

/** The approval of an email or a broadcast; null when it needs none. */
export const approvalOrNull = orNull(
  approvalStateSchema,
  'The approval that this waits for, or has waited for; null when it was sent or changed by no key that requires approval.',
);

export const approvalFilter = {
  state: Type.Optional(
    Type.Enum([...STATES], { description: 'Only approvals in this state; `pending` lists what waits.' }),
  ),
};

const hash = Type.String({
  minLength: HASH_CHARACTERS,
  maxLength: HASH_CHARACTERS,
  description: 'The `approval.hash` of what was read. Something else is not approved.',
});

export const approveSchema = Type.Object({ hash }, { examples: [{ hash: EXAMPLE_STATE.hash }] });
export type ApproveBody = Static<typeof approveSchema>;

export const declineSchema = Type.Object(
  {
    hash,
    reason: Type.Optional(
      Type.Union(
        [Type.String({ minLength: 1, maxLength: MAX_REASON_CHARACTERS, pattern: PLAIN_TEXT }), Type.Null()],
        { description: 'Why, for the author.' },
      ),
    ),
  },
  { examples: [{ hash: EXAMPLE_STATE.hash, reason: 'The price is wrong' }] },
);
export type DeclineBody = Static<typeof declineSchema>;
