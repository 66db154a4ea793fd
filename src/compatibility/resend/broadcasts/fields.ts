/**
 * Translates the fields of broadcasts. Resend's has a name and a preview text, which ours has not: the preview text becomes part of the HTML
 * (preview-text.ts), and the subject stands for the name.
 */
import type {
  BroadcastChange,
  NewBroadcast,
  ShownBroadcast,
  ShownSummary,
} from '../../../broadcasts/schemas.ts';
import { invalid } from '../../../system/errors.ts';
import { isId } from '../../../system/ids.ts';
import { type Fields, requireSpelling } from '../fields.ts';
import { hasUnsubscribeTag, RESEND_UNSUBSCRIBE_URL, tagsFromResend, tagsToResend } from '../merge-tags.ts';
import { splitPreviewText, withPreviewText } from './preview-text.ts';

type Change = { [Name in keyof BroadcastChange]?: unknown };

/**
 * Returns the fields of a new broadcast. The schema of the operation checks the values that are passed on.
 * @throws AppError validation_error naming the field
 */
export function newBroadcastFrom(given: Fields): Change {
  const { html = null, text = null } = given;
  if (html === null && text !== null)
    throw invalid('html', '`html` is required; a broadcast of `text` alone is not supported here');
  return changeFrom({ ...given, html }, null);
}

/**
 * Returns the change of a broadcast. `before` is its present HTML, which is needed when `changesHtml` says so: a new preview text is put into
 * it, and new HTML keeps its preview text.
 * @throws AppError validation_error naming the field
 */
export function changeFrom(given: Fields, before: string | null): Change {
  requireSpelling(given, ['topic_id', 'reply_to']);
  const { from, subject, text, segment_id, audience_id, reply_to, topic_id } = given;
  const target = segment_id ?? audience_id;
  const change: Change = {
    from,
    subject: translated(subject),
    replyTo: onlyAddress(reply_to),
    topicId: topic_id,
    html: changesHtml(given) ? htmlFrom(given, before) : undefined,
    text: translated(text),
    ...(target !== undefined && target !== null && targetFrom(target)),
  };
  for (const field of ['html', 'text'] as const) requireUnsubscribeTag(field, change[field]);
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/** True when a change cannot be made without the present HTML of the broadcast. */
export function changesHtml({ html, preview_text }: Fields): boolean {
  return html !== undefined || preview_text !== undefined;
}

/** Refuses content without a link to unsubscribe here, so that the message names the tags of both spellings. */
function requireUnsubscribeTag(field: 'html' | 'text', content: unknown): void {
  if (typeof content === 'string' && !hasUnsubscribeTag(content))
    throw invalid(
      field,
      `\`${field}\` must contain {{{${RESEND_UNSUBSCRIBE_URL}}}} or {{{unsubscribe_url}}}`,
    );
}

function translated(value: unknown): unknown {
  return typeof value === 'string' ? tagsFromResend(value) : value;
}

function htmlFrom({ html, preview_text }: Fields, before: string | null): unknown {
  const present = splitPreviewText(before ?? '');
  const wanted = html === undefined ? present.html : translated(html);
  if (typeof wanted !== 'string' || wanted === '') return wanted;
  const previewText = preview_text === undefined ? present.previewText : translated(preview_text);
  if (previewText !== null && typeof previewText !== 'string')
    throw invalid('preview_text', '`preview_text` must be a string');
  return withPreviewText({ html: wanted, previewText });
}

/** Returns the recipients that an id names. The id of an audience of ours is taken where Resend has the id of a segment. */
function targetFrom(id: unknown): Pick<Change, 'audienceId' | 'segmentId'> {
  return typeof id === 'string' && isId('aud', id) ? { audienceId: id, segmentId: null } : { segmentId: id };
}

function onlyAddress(given: unknown): unknown {
  if (!Array.isArray(given)) return given;
  if (given.length > 1) throw invalid('reply_to', '`reply_to` of a broadcast must be a single address here');
  return given[0] ?? null;
}

/** Returns the fields with which a copy of a broadcast is made, as a draft. */
export function copyOf(broadcast: ShownBroadcast): NewBroadcast {
  const { audienceId, segmentId, from, subject, replyTo, topicId, templateId, html, text } = broadcast;
  return { audienceId, segmentId, from, subject, replyTo, topicId, templateId, html, text };
}

/** Resend has no word for a broadcast that is paused. */
const STATUSES = {
  draft: 'draft',
  scheduled: 'scheduled',
  sending: 'queued',
  paused: 'queued',
  sent: 'sent',
  canceled: 'canceled',
  failed: 'failed',
} as const satisfies Record<ShownSummary['status'], string>;

/** Returns a broadcast as an item of Resend's list. */
export function showBroadcastItem(broadcast: ShownSummary) {
  const { id, subject, status, audienceId, segmentId, topicId, createdAt, scheduleAt, sentAt } = broadcast;
  const target = segmentId ?? audienceId;
  return {
    id,
    name: tagsToResend(subject),
    audience_id: target,
    segment_id: target,
    status: STATUSES[status],
    created_at: createdAt,
    scheduled_at: scheduleAt,
    sent_at: sentAt,
    topic_id: topicId,
  };
}

/** Returns a broadcast as Resend shows it. */
export function showBroadcast(broadcast: ShownBroadcast) {
  const { from, subject, replyTo, text } = broadcast;
  const { html, previewText } = splitPreviewText(broadcast.html ?? '');
  return {
    object: 'broadcast',
    ...showBroadcastItem(broadcast),
    from,
    subject: tagsToResend(subject),
    reply_to: replyTo === null ? null : [replyTo],
    preview_text: previewText === null ? null : tagsToResend(previewText),
    html: broadcast.html === null ? null : tagsToResend(html),
    text: text === null ? null : tagsToResend(text),
  };
}
