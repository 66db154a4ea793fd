/** Schemas of the broadcasts API (specification 2.3 and 4.5). draft.ts checks the meaning of the fields. */
import { type Static, Type } from 'typebox';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';
import { MAX_SUBJECT_CHARACTERS } from '../templates/schemas.ts';

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

const STATUSES = ['draft'] as const satisfies readonly BroadcastRow['status'][];

export const broadcastFilter = {
  status: Type.Optional(Type.Enum([...STATUSES], { description: 'Only broadcasts with this status.' })),
  audienceId: Type.Optional(
    Type.String({ description: 'Only broadcasts for this audience or a segment of it.' }),
  ),
};

const optionalText = Type.Union([Type.String(), Type.Null()]);

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
};

export const broadcastSummarySchema = Type.Object(summary, {
  title: 'BroadcastSummary',
  examples: [SUMMARY_EXAMPLE],
});

export const broadcastSchema = Type.Object(
  { ...summary, html: optionalText, text: optionalText },
  { title: 'Broadcast', examples: [{ ...SUMMARY_EXAMPLE, html: EXAMPLE.html, text: null }] },
);

export type BroadcastSummary = Omit<BroadcastRow, 'html' | 'text'>;

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
  };
}

/** Returns a broadcast as the API shows it. */
export function showBroadcast(row: BroadcastRow): Static<typeof broadcastSchema> {
  return { ...showBroadcastSummary(row), html: row.html, text: row.text };
}
