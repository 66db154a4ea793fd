/** Translates an email as Resend's clients send it. */
import type { SendBody } from '../../../emails/schemas.ts';
import { invalid } from '../../../system/errors.ts';
import { type Fields, given, isFields } from '../fields.ts';
import { readScheduledAt } from '../schedule.ts';

/**
 * Returns the body of our operation. An email with a topic is of the type broadcast, because opt-outs of the topic hold for it; every
 * other email is transactional. The schema of the operation checks the values that are passed on.
 * @throws AppError validation_error for what has no meaning in our words
 */
export function translateEmail(email: Fields, now: number): Fields {
  const { topic_id: topicId, scheduled_at: scheduledAt, template } = email;
  return given({
    from: email['from'],
    to: email['to'],
    cc: email['cc'],
    bcc: email['bcc'],
    replyTo: email['reply_to'],
    subject: email['subject'],
    html: email['html'],
    text: email['text'],
    headers: email['headers'],
    tags: readTags(email['tags']),
    attachments: readAttachments(email['attachments']),
    scheduledAt: isGiven(scheduledAt) ? readScheduledAt(scheduledAt, now) : undefined,
    ...(isGiven(template) && readTemplate(template)),
    topicId,
    type: (isGiven(topicId) ? 'broadcast' : 'transactional') satisfies SendBody['type'],
  });
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns the tags as pairs. Anything but a list of `{ name, value }` is left to the schema, which refuses it. */
function readTags(tags: unknown): unknown {
  if (!Array.isArray(tags)) return tags;
  const pairs = tags.map((tag: unknown, index) => {
    if (isFields(tag) && typeof tag['name'] === 'string') return [tag['name'], tag['value']] as const;
    throw invalid(`tags[${index}]`, `\`tags[${index}]\` must be an object with \`name\` and \`value\``);
  });
  // A name such as `__proto__` becomes a property of its own, which the operation refuses.
  return Object.fromEntries(pairs);
}

function readAttachments(attachments: unknown): unknown {
  if (!Array.isArray(attachments)) return attachments;
  return attachments.map((attachment: unknown) => {
    if (!isFields(attachment)) return attachment;
    const { filename, content, path } = attachment;
    return given({
      filename: filename === false ? undefined : filename,
      content: readContent(content),
      path,
      contentType: attachment['content_type'],
      contentId: attachment['content_id'] ?? attachment['inline_content_id'],
    });
  });
}

/** Returns a content as base64. Older clients send bytes as Node writes a Buffer into JSON. */
function readContent(content: unknown): unknown {
  if (!isFields(content) || content['type'] !== 'Buffer' || !Array.isArray(content['data'])) return content;
  return Buffer.from(content['data'] as number[]).toString('base64');
}

function readTemplate(template: unknown): Fields {
  if (!isFields(template)) throw invalid('template', '`template` must be an object with `id`');
  return { templateId: template['id'], variables: template['variables'] };
}
