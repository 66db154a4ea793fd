/**
 * The schema of each event's `data`, as endpoints receive it (specification 6). The API document shows these schemas,
 * and tests compare every recorded event with them.
 */
import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { approvalSchema } from '../approvals/schemas.ts';
import { contactSchema } from '../audiences/contacts/schemas.ts';
import { broadcastSummarySchema } from '../broadcasts/schemas.ts';
import { HOLD_REASONS } from '../emails/schemas.ts';
import type { EventType } from '../events/store.ts';
import { REPLY_CLASSES } from '../queue/outcome/replies/meaning.ts';
import { suppressionSchema } from '../suppressions/schemas.ts';
import { MACHINE_REASONS } from '../tracking/classify.ts';

const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const text = (description: string) => Type.String({ description });
const time = (description: string) => Type.String({ description: `${description}, in ISO 8601 and UTC.` });

/** Fields of every event about an email and one of its recipients. */
const email = {
  emailId: text('The id of the email, as `POST /v1/emails` returned it.'),
  to: text('The recipient that the event is about: one address without a name.'),
  from: text('The sender: one address without a name.'),
  subject: Type.String(),
  messageId: text('The `Message-ID` field of the message, in angle brackets.'),
  tags: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The tags of the email.',
  }),
  broadcastId: nullable(text('The broadcast that the email is part of.')),
  templateId: nullable(text('The template that the email was made from.')),
  createdAt: time('When the email was accepted'),
};

const delivery = Type.Object(
  {
    smtpResponse: text('The final reply of the receiving server.'),
    mx: nullable(text('The name of the receiving server.')),
    tls: nullable(text('The version of TLS, such as `TLSv1.3`; null for a connection in plain text.')),
    durationMs: Type.Integer({ description: 'Duration of the attempt in milliseconds.' }),
  },
  { description: 'The successful attempt.' },
);

/** The meaning of a reply by the reply table (queue/outcome/replies). */
const explanation = {
  class: Type.Enum([...REPLY_CLASSES], {
    description: 'What the reply means, such as `bad-mailbox` or `rate`.',
  }),
  advice: text('What you can do, in a sentence.'),
};

const delay = Type.Object(
  {
    diagnostic: text('The reply of the receiving server, or the reason why none was reached.'),
    ...explanation,
    attempt: Type.Integer({
      description:
        'Number of the attempt, from 1; 0 when none was made yet, because the receiving servers get a pause.',
    }),
    nextAttemptAt: nullable(
      time('Time of the next attempt; null when a later server reports the delay by mail, or nobody knows'),
    ),
    expiresAt: nullable(
      time('When the email bounces if it is still not delivered; null when a later server does not say'),
    ),
  },
  { description: 'The attempt that was deferred.' },
);

const bounce = Type.Object(
  {
    type: Type.Enum(['permanent', 'transient', 'undetermined'], {
      description: 'The type is `permanent` exactly when the address was added to the suppressions.',
    }),
    subType: Type.Enum([
      ...['NoEmail', 'MailboxFull', 'MessageTooLarge', 'ContentRejected', 'AttachmentRejected', 'General'],
    ]),
    ...explanation,
    smtpCode: nullable(Type.Integer({ description: 'The reply code, such as 550.' })),
    enhancedCode: nullable(text('The enhanced status code (RFC 3463), such as `5.1.1`.')),
    diagnostic: nullable(text('The reply of the receiving server, or the reason why none was reached.')),
    source: Type.Enum(['smtp', 'dsn'], { description: 'An SMTP reply or a delivery status notification.' }),
  },
  { description: 'Reason why the recipient bounced.' },
);

const hold = Type.Object(
  {
    reason: Type.Enum([...HOLD_REASONS], {
      description:
        '`interrupted`: the daemon ended during several attempts. `damaged`: the stored message is missing or was changed. ' +
        '`operator`: the operator of the server holds the mail. `approval`: a person has to approve it.',
    }),
    diagnostic: text('The reason in words.'),
  },
  {
    description:
      'Reason why delivery is not attempted until an operator releases the email, or a person approves it.',
  },
);

const complaint = Type.Object(
  {
    feedbackType: text('The type of the report (RFC 5965 section 3.1), such as `abuse`.'),
    userAgent: nullable(text('The program that made the report.')),
    arrivedAt: time('When the report arrived'),
    ...explanation,
  },
  { description: 'The report of the recipient.' },
);

const reader = {
  ip: nullable(text('The address that the request came from; null 30 days later.')),
  userAgent: nullable(text('The program that made the request; null 30 days later.')),
  bot: Type.Boolean({
    description: 'True when a machine probably made the request, such as a scanner of links.',
  }),
  botReason: nullable(
    Type.Enum([...MACHINE_REASONS], {
      description:
        'Why `bot` is true. `head`: the request asked for no content. `prefetch`: a browser loaded the link ahead. `many_links`: three links of the email were followed within 10 seconds. `too_soon`: less than 5 seconds had passed since the receiving server accepted the email. `scanner_network`: the address belongs to a service that scans mail. `privacy_proxy`: Apple Mail loads the images of all mail, read or not. `user_agent`: the program says that it is not a browser.',
    }),
  ),
};
const open = Type.Object({ timestamp: time('When the message was opened'), ...reader });
const click = Type.Object({
  timestamp: time('When the link was followed'),
  link: text('The link that was followed, variables filled in.'),
  ...reader,
});

/** Fields of a message that was received. They are not those of an email that was sent. */
const received = {
  id: text('The id of the received message.'),
  sender: text('The sender of the envelope: one address, or empty for a bounce.'),
  to: text('The first of the recipients.'),
  recipients: Type.Array(Type.String(), {
    description:
      'The recipients of the envelope that have a route; for an endpoint of one domain, those at that domain.',
  }),
  from: text('The author: the address of the `From` field, or the sender when that field names none.'),
  subject: nullable(text('The decoded subject. Null when the message has none.')),
  messageId: nullable(text('The `Message-ID` field of the message, in angle brackets.')),
  emailId: nullable(text('Your email that the message answers.')),
  sizeBytes: Type.Integer({ description: 'Size of the message in bytes.' }),
  auth: Type.Object(
    { spf: Type.String(), dkim: Type.String(), dmarc: Type.String() },
    {
      description:
        'Results of authentication, such as `pass` or `none`. DKIM passes when one signature does.',
    },
  ),
  flagged: Type.Boolean({ description: 'True when the message is marked as probable spam.' }),
  createdAt: time('When the message was received'),
};

const domain = {
  domainId: Type.String(),
  name: text('The name of the domain.'),
  status: Type.Enum(['verified', 'failed']),
};

/** Fields of the contact record that the API shows. The event gives the schema its title. */
const contact = contactSchema.properties;
const suppression = suppressionSchema.properties;
/** Fields of the broadcast that lists show, without its texts. */
const broadcast = broadcastSummarySchema.properties;

const approval = approvalSchema.properties;

const PROPERTIES = {
  'email.queued': email,
  'email.sent': email,
  'email.delivered': { ...email, delivery },
  'email.bounced': { ...email, bounce },
  'email.complained': { ...email, complaint },
  'email.opened': { ...email, open },
  'email.clicked': { ...email, click },
  'email.delivery_delayed': { ...email, delay },
  'email.suppressed': email,
  'email.canceled': email,
  'email.held': { ...email, hold },
  'email.received': received,
  'domain.verified': domain,
  'domain.failed': domain,
  'contact.created': contact,
  'contact.updated': contact,
  'contact.deleted': contact,
  'contact.unsubscribed': contact,
  'suppression.added': suppression,
  'suppression.removed': suppression,
  'broadcast.sent': broadcast,
  'broadcast.paused': broadcast,
  'broadcast.failed': broadcast,
  'approval.requested': approval,
  'approval.approved': approval,
  'approval.declined': approval,
  'approval.expired': approval,
  'approval.withdrawn': approval,
} as const satisfies Record<EventType, TProperties>;

/** Returns the schema of the `data` of this type of event. Every field is always present. */
export function eventDataSchema(type: EventType): TObject {
  return Type.Object(PROPERTIES[type]);
}
