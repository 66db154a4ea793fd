/** Schemas of the broadcasts API (specification 2.3 and 4.5). draft.ts checks the meaning of the fields. */
import { type Static, Type } from 'typebox';
import type { BroadcastCountsRow, BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';
import { MAX_SUBJECT_CHARACTERS } from '../templates/render.ts';

const text = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

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
  scheduleAt: text('Not supported yet: a broadcast is created as a draft.'),
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

const STATUSES = [
  ...(['draft', 'scheduled', 'sending', 'paused'] as const),
  ...(['sent', 'canceled', 'failed'] as const),
] satisfies readonly BroadcastRow['status'][];

export const broadcastFilter = {
  status: Type.Optional(Type.Enum([...STATUSES], { description: 'Only broadcasts with this status.' })),
  audienceId: Type.Optional(
    Type.String({ description: 'Only broadcasts for this audience or a segment of it.' }),
  ),
};

const optionalText = Type.Union([Type.String(), Type.Null()]);

const count = (description: string) => Type.Integer({ description });
const countsSchema = Type.Object(
  {
    recipients: count('Contacts in the ledger. It is the sum of the next eight.'),
    waiting: count('Contacts whose copy is not made yet.'),
    queued: count('Copies that wait for delivery, for the first time or again.'),
    delivered: count('Copies that the server of the recipient has accepted.'),
    bounced: count('Copies that could not be delivered.'),
    suppressed: count('Contacts on the suppression list.'),
    optedOut: count('Contacts who have unsubscribed, or not opted in.'),
    canceled: count('Contacts who got no copy, because the broadcast was canceled or they were deleted.'),
    failed: count('Contacts whose copy could not be made.'),
    sent: count('Copies that were attempted at least once.'),
    complained: count('Copies that were reported as spam.'),
    opened: count('Opens by people.'),
    uniqueOpened: count('Copies that a person has opened.'),
    clicked: count('Clicks by people.'),
    uniqueClicked: count('Copies in which a person has clicked a link.'),
    unsubscribed: count('Contacts who left by a link of the broadcast.'),
  },
  { description: 'All counts are 0 until the broadcast starts.' },
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
  createdAt: Type.String(),
  updatedAt: Type.String(),
  startedAt: optionalText,
  sentAt: Type.Union([Type.String(), Type.Null()], {
    description: 'Time at which nobody waited any more and every copy had been tried.',
  }),
  pausedReason: Type.Union(
    [Type.Enum(['manual', 'bounces', 'complaints', 'quota', 'late', 'domain']), Type.Null()],
    { description: 'Why a paused broadcast is paused.' },
  ),
  counts: countsSchema,
};

const SUMMARY_EXAMPLE = {
  id: 'brd_01khq3z5vgxw1r8t6n2m4c9b7d',
  status: 'draft',
  audienceId: EXAMPLE.audienceId,
  segmentId: null,
  from: EXAMPLE.from,
  subject: EXAMPLE.subject,
  replyTo: null,
  topicId: EXAMPLE.topicId,
  templateId: null,
  createdAt: '2026-03-01T09:00:00.000Z',
  updatedAt: '2026-03-01T09:00:00.000Z',
  startedAt: null,
  sentAt: null,
  pausedReason: null,
  counts: Object.fromEntries(Object.keys(countsSchema.properties).map((name) => [name, 0])),
};

export const broadcastSummarySchema = Type.Object(summary, {
  title: 'BroadcastSummary',
  examples: [SUMMARY_EXAMPLE],
});

export const broadcastSchema = Type.Object(
  { ...summary, html: optionalText, text: optionalText },
  { title: 'Broadcast', examples: [{ ...SUMMARY_EXAMPLE, html: EXAMPLE.html, text: null }] },
);

/** A broadcast with what its run and its ledger say. Null means that it has not started. */
type Progress = {
  run: Pick<BroadcastRunRow, 'startedAt' | 'endedAt' | 'pausedReason'> | null;
  counts: BroadcastCountsRow | null;
};
type BroadcastSummary = Omit<BroadcastRow, 'html' | 'text'> & Progress;
export type BroadcastView = BroadcastRow & Progress;

const NO_COUNTS = Object.fromEntries(Object.keys(countsSchema.properties).map((name) => [name, 0])) as Static<
  typeof countsSchema
>;

/** Returns a broadcast as the list shows it. */
export function showBroadcastSummary(row: BroadcastSummary): Static<typeof broadcastSummarySchema> {
  return {
    id: row.id,
    status: row.status,
    audienceId: row.audienceId,
    segmentId: row.segmentId,
    from: row.fromHeader,
    subject: row.subject,
    replyTo: row.replyTo,
    topicId: row.topicId,
    templateId: row.templateId,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
    startedAt: optionalTime(row.run?.startedAt),
    sentAt: row.status === 'sent' ? optionalTime(row.run?.endedAt) : null,
    pausedReason: row.run?.pausedReason ?? null,
    counts: row.counts ?? NO_COUNTS,
  };
}

function optionalTime(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : isoTime(at);
}

/** Returns a broadcast as the API shows it. */
export function showBroadcast(row: BroadcastView): Static<typeof broadcastSchema> {
  return { ...showBroadcastSummary(row), html: row.html, text: row.text };
}
