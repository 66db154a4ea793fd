/** Schemas of the broadcasts API (specification 2.3 and 4.5). draft.ts checks the meaning of the fields. */
import { type Static, type TSchema, Type } from 'typebox';
import { approvalOrNull } from '../approvals/schemas.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { MAX_SUBJECT_CHARACTERS } from '../templates/render.ts';

const text = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** Maximum number of copies per hour or day that a pace can name. */
const MAX_PACE = 100_000_000;

const paceSchema = Type.Object({
  perHour: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_PACE, description: 'Maximum number of copies in an hour.' }),
  ),
  perDay: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_PACE, description: 'Maximum number of copies in a day.' }),
  ),
  finishBy: Type.Optional(
    Type.String({
      description: 'Time by which all copies are made, spread evenly, in ISO 8601 with an offset.',
    }),
  ),
});

const fields = {
  audienceId: text('Audience that receives the broadcast. Required when `segmentId` is absent.'),
  segmentId: text(
    'Segment whose contacts receive the broadcast. When `audienceId` is given too, the segment must belong to that audience.',
  ),
  from: Type.String({ description: 'Sender, `a@b` or `Name <a@b>`, at a verified domain.' }),
  subject: Type.String({
    minLength: 1,
    maxLength: MAX_SUBJECT_CHARACTERS,
    pattern: PLAIN_TEXT,
    description:
      'One line, which may contain merge tags such as {{firstName}}. Replaces the subject of the template.',
  }),
  replyTo: text('Address that receives replies.'),
  topicId: text(
    'Topic of the broadcast, so that readers can opt out of this kind of mail alone. Recommended.',
  ),
  templateId: text('Id of a stored template, which is used instead of `html`.'),
  html: text(
    'Required when `templateId` is absent. Merge tags such as `{{firstName|there}}` are escaped. The HTML must contain ' +
      '`{{{unsubscribe_url}}}`, the only tag allowed in three braces. At most 1 MiB.',
  ),
  text: text(
    'Generated from the HTML when absent. Replaces the text of the template. It must contain `{{{unsubscribe_url}}}` too. ' +
      'At most 1 MiB.',
  ),
  scheduleAt: text(
    'Time at which the broadcast is sent, in ISO 8601 with an offset, at most a year ahead. A time that has passed means now. ' +
      'Without it the broadcast is a draft; null makes it a draft again.',
  ),
  pace: Type.Union([paceSchema, Type.Null()], {
    description:
      'How fast the broadcast is sent, with exactly one field. Without it, as fast as receivers accept the mail. It can be changed ' +
      'while the broadcast is sent or paused.',
  }),
};

const { from, subject, ...optional } = fields;

const EXAMPLE = {
  audienceId: 'aud_01khq3z5vgxw1r8t6n2m4c9b7d',
  from: 'Ada <ada@news.example.com>',
  subject: 'What is new, {{firstName|friend}}',
  topicId: 'top_01khq3z5vgxw1r8t6n2m4c9b7d',
  html: '<p>Hello {{firstName|friend}}!</p><p><a href="{{{unsubscribe_url}}}">Unsubscribe</a></p>',
};

export const newBroadcastSchema = Type.Object(
  { ...Type.Partial(Type.Object(optional)).properties, from, subject },
  { examples: [EXAMPLE] },
);
export type NewBroadcast = Static<typeof newBroadcastSchema>;

export const broadcastChangeSchema = Type.Partial(Type.Object(fields), {
  examples: [{ subject: 'What is new in March', replyTo: 'answers@news.example.com' }],
});
export type BroadcastChange = Static<typeof broadcastChangeSchema>;

export const STATUSES = [
  'draft',
  'scheduled',
  'sending',
  'paused',
  'sent',
  'canceled',
  'failed',
] as const satisfies readonly BroadcastRow['status'][];
const PAUSED_REASONS = ['manual', 'bounces', 'complaints', 'quota', 'late', 'domain'] as const;

export const broadcastFilter = {
  status: Type.Optional(Type.Enum([...STATUSES], { description: 'Only broadcasts with this status.' })),
  audienceId: Type.Optional(
    Type.String({ description: 'Only broadcasts for this audience or a segment of it.' }),
  ),
};

const optionalText = Type.Union([Type.String(), Type.Null()]);
const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const count = (description: string) => Type.Integer({ description });

const countsSchema = Type.Object(
  {
    recipients: count(
      'Contacts that the broadcast is for: the sum of the next eight counts, at every moment.',
    ),
    waiting: count('Contacts whose copy is not made yet.'),
    queued: count('Copies that are being delivered.'),
    delivered: count('Copies that the receiving server accepted.'),
    bounced: count('Copies that cannot be delivered.'),
    suppressed: count('Contacts whose address is on the suppression list.'),
    optedOut: count('Contacts who have unsubscribed, have opted out of the topic or have not opted in.'),
    canceled: count('Contacts whose copy was canceled, or who were deleted meanwhile.'),
    failed: count('Contacts whose copy could not be made.'),
    sent: count('Copies that were attempted at least once.'),
    complained: count('Copies that were reported as spam. They count as delivered too.'),
    opened: count('How often copies were opened by people.'),
    uniqueOpened: count('Copies that people have opened.'),
    clicked: count('How often people followed links.'),
    uniqueClicked: count('Copies in which people have followed a link.'),
    unsubscribed: count('Contacts who have unsubscribed by a link of this broadcast.'),
  },
  { description: 'What has become of the contacts and of their copies. All are zero before the start.' },
);

const summary = {
  id: Type.String(),
  status: Type.Enum([...STATUSES]),
  audienceId: Type.String({
    description: 'Id of the audience; for a segment, the audience that it belongs to.',
  }),
  segmentId: optionalText,
  from: Type.String(),
  subject: Type.String(),
  replyTo: optionalText,
  topicId: optionalText,
  templateId: optionalText,
  scheduleAt: nullable(Type.String(), 'Time at which the broadcast is sent, or was to be sent.'),
  pace: nullable(paceSchema, 'How fast the broadcast is sent; null means without a limit.'),
  pausedReason: nullable(
    Type.Enum([...PAUSED_REASONS]),
    'Why the broadcast is paused; null unless `status` is paused. `bounces` and `complaints`: too many copies bounced or were ' +
      'reported as spam. `quota`: the emails of the month are used up. `late`: it was found more than an hour after its time. ' +
      '`domain`: the domain of the sender is no longer verified.',
  ),
  failure: nullable(Type.String(), 'Why the broadcast could not start; null unless `status` is failed.'),
  approval: approvalOrNull,
  startedAt: nullable(Type.String(), 'Time at which sending began.'),
  sentAt: nullable(Type.String(), 'Time at which every copy was tried; null unless `status` is sent.'),
  counts: countsSchema,
  createdAt: Type.String(),
  updatedAt: Type.String(),
};

const SUMMARY_EXAMPLE = {
  id: 'brd_01khq3z5vgxw1r8t6n2m4c9b7d',
  status: 'scheduled',
  audienceId: EXAMPLE.audienceId,
  segmentId: null,
  from: EXAMPLE.from,
  subject: EXAMPLE.subject,
  replyTo: null,
  topicId: EXAMPLE.topicId,
  templateId: null,
  scheduleAt: '2026-03-02T09:00:00.000Z',
  pace: { perHour: 10_000 },
  pausedReason: null,
  failure: null,
  approval: null,
  startedAt: null,
  sentAt: null,
  counts: Object.fromEntries(Object.keys(countsSchema.properties).map((name) => [name, 0])),
  createdAt: '2026-03-01T09:00:00.000Z',
  updatedAt: '2026-03-01T09:00:00.000Z',
};

export const broadcastSummarySchema = Type.Object(summary, {
  title: 'BroadcastSummary',
  examples: [SUMMARY_EXAMPLE],
});

export const broadcastSchema = Type.Object(
  { ...summary, html: optionalText, text: optionalText },
  { title: 'Broadcast', examples: [{ ...SUMMARY_EXAMPLE, html: EXAMPLE.html, text: null }] },
);

export type ShownCounts = Static<typeof countsSchema>;
export type ShownSummary = Static<typeof broadcastSummarySchema>;
export type ShownBroadcast = Static<typeof broadcastSchema>;
