/** Answers to the requests that send an email or a batch (specification 4.1). */
import { Type } from 'typebox';
import { approvalOfAccepted } from '../approvals/schemas.ts';

const EXAMPLE_SENT = { id: 'em_01khq3z5vgxw1r8t6n2m4c9b7d', status: 'queued' };

export const sentSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the email; starts with `em_`.' }),
    status: Type.Literal('queued'),
    approval: approvalOfAccepted,
  },
  { title: 'SentEmail', examples: [EXAMPLE_SENT] },
);

const batchItemSchema = Type.Object(
  {
    id: Type.Union([Type.String(), Type.Null()], {
      description: 'Id of the email; starts with `em_`. Null when the email was refused.',
    }),
    status: Type.Enum(['queued', 'failed']),
    approval: approvalOfAccepted,
    error: Type.Optional(
      Type.Object(
        {
          type: Type.String({ description: 'Error code, the same as in the response of POST /v1/emails.' }),
          message: Type.String({ description: 'Description of the error for people.' }),
        },
        { description: 'Reason why the email was refused.' },
      ),
    ),
  },
  { title: 'BatchItem', examples: [EXAMPLE_SENT] },
);

export const sentBatchSchema = Type.Object(
  { data: Type.Array(batchItemSchema, { description: 'One item for each email, in the same order.' }) },
  {
    title: 'SentBatch',
    examples: [
      {
        data: [
          EXAMPLE_SENT,
          { id: null, status: 'failed', error: { type: 'validation_error', message: '`to` is required' } },
        ],
      },
    ],
  },
);
