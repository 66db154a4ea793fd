/** Schemas of what became of the contacts of a broadcast. */
import { type Static, Type } from 'typebox';
import { pageQuery, pageSchema } from '../../http/json/page.ts';
import { nullableText } from '../../jobs/schemas.ts';

const status = Type.Enum(
  ['waiting', 'queued', 'delivered', 'bounced', 'suppressed', 'optedOut', 'canceled', 'failed'],
  {
    description:
      '`waiting`: the copy is not made yet; `queued`: it is on its way, or retried; `failed`: it could not be made.',
  },
);

const recipientSchema = Type.Object(
  {
    contactId: Type.String(),
    email: Type.String({ description: 'Address of the contact when the copy was made.' }),
    status,
    emailId: nullableText('The copy, for `GET /v1/emails/{id}`; null when there is none.'),
    reason: nullableText('Why there is no copy, or why it was not delivered.'),
    changedAt: Type.String({ description: 'Time of the last change of `status`.' }),
    openedAt: nullableText('Time of the first open by a person, who loaded the images.'),
    clickedAt: nullableText('Time of the first click by a person.'),
  },
  {
    title: 'BroadcastRecipient',
    examples: [
      {
        contactId: 'ct_01khq3z5vgxw1r8t6n2m4c9b7d',
        email: 'ada@example.com',
        status: 'delivered',
        emailId: 'em_01khq3z5vgxw1r8t6n2m4c9b7d',
        reason: null,
        changedAt: '2026-03-01T09:00:05.120Z',
        openedAt: '2026-03-01T10:12:44.000Z',
        clickedAt: null,
      },
    ],
  },
);

export type RecipientView = Static<typeof recipientSchema>;

const filter = { status: Type.Optional(status) };

export const recipientQuery = Type.Object({ ...pageQuery, ...filter });
export type RecipientQuery = Static<typeof recipientQuery>;
export const recipientsSchema = pageSchema(recipientSchema);

export const recipientExportSchema = Type.Object(filter, { examples: [{ status: 'bounced' }] });
