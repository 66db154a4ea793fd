/** Translates an email as Resend's clients send it. */
import type { SendBody } from '../../../emails/schemas.ts';
import { AppError, invalid } from '../../../system/errors.ts';
import { type Fields, fieldsOf, given, isFields, isGiven, requireSpelling } from '../fields.ts';
import { unsubscribeTagFromResend } from '../merge-tags.ts';
import { readScheduledAt } from '../schedule.ts';
import { OPEN_SUBJECT } from '../templates/fields.ts';
import type { EmailTemplate } from './find-template.ts';

type Translation = {
  /** Time of the request in Unix milliseconds. */
  now: number;
  /** Returns the template with an id or an alias; undefined when there is none. */
  findTemplate(idOrAlias: string): Promise<EmailTemplate | undefined>;
};

/**
 * Returns the body of our operation. An email with a topic is of the type broadcast, because opt-outs of the topic hold for it; every
 * other email is transactional. The schema of the operation checks the values that are passed on.
 * @throws AppError validation_error for what has no meaning in our words
 */
export function translateEmail(body: unknown, { now, findTemplate }: Translation): Fields | Promise<Fields> {
  const email = fieldsOf(body);
  requireSpelling(email, ['scheduled_at', 'topic_id', 'reply_to']);
  const { subject, topic_id: topicId, scheduled_at: scheduledAt } = email;
  const translated = given({
    from: email['from'],
    to: email['to'],
    cc: email['cc'],
    bcc: email['bcc'],
    replyTo: email['reply_to'],
    subject,
    html: withOurLink(email['html']),
    text: withOurLink(email['text']),
    headers: email['headers'],
    tags: readTags(email['tags']),
    attachments: readAttachments(email['attachments']),
    scheduledAt: isGiven(scheduledAt) ? readScheduledAt(scheduledAt, now) : undefined,
    topicId,
    type: (isGiven(topicId) ? 'broadcast' : 'transactional') satisfies SendBody['type'],
  });
  return isGiven(email['template'])
    ? withTemplate(translated, readTemplate(email['template']), findTemplate)
    : translated;
}

/** Returns a text with our tag of the unsubscribe link. All other tags are variables, which have the same names here. */
function withOurLink(text: unknown): unknown {
  return typeof text === 'string' ? unsubscribeTagFromResend(text) : text;
}

/** Returns the tags as pairs. Anything but a list of `{ name, value }` is left to the schema, which refuses it. */
function readTags(tags: unknown): unknown {
  if (!Array.isArray(tags)) return tags;
  const pairs = tags.map((tag: unknown, index) => {
    if (isFields(tag) && typeof tag['name'] === 'string') return [tag['name'], tag['value']] as const;
    throw invalid(`tags[${index}]`, `\`tags[${index}]\` must be an object with \`name\` and \`value\``);
  });
  if (new Set(pairs.map(([name]) => name)).size < pairs.length)
    throw invalid('tags', '`tags` must not name a tag twice');
  return Object.fromEntries(pairs);
}

function readAttachments(attachments: unknown): unknown {
  if (!Array.isArray(attachments)) return attachments;
  return attachments.map((attachment: unknown, index) => {
    if (!isFields(attachment)) return attachment;
    const { filename, content, path } = attachment;
    return given({
      filename: filename === false ? undefined : filename,
      content: readContent(content, `attachments[${index}].content`),
      path,
      contentType: attachment['content_type'],
      contentId: attachment['content_id'] ?? attachment['inline_content_id'],
    });
  });
}

/**
 * Returns a content as base64. Some clients send bytes as a list of numbers, and older ones for Node.js as Node writes a Buffer into JSON.
 * @throws AppError validation_error for a list of anything but bytes
 */
function readContent(content: unknown, field: string): unknown {
  const bytes = isFields(content) && content['type'] === 'Buffer' ? content['data'] : content;
  if (!Array.isArray(bytes)) return content;
  if (!bytes.every(isByte)) throw invalid(field, `\`${field}\` must be base64, or a list of bytes`);
  return Buffer.from(bytes).toString('base64');
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}

type Template = { id: string; variables: unknown };

function readTemplate(template: unknown): Template {
  if (isFields(template) && typeof template['id'] === 'string')
    return { id: template['id'], variables: template['variables'] };
  throw invalid('template.id', '`template.id` is required, with the id of a template');
}

/**
 * The variables are always given, so that the subject of a template is rendered as its other parts are. A template that does not exist is
 * refused by the operation, unless it has answered the request before: the template may be gone when a request is repeated.
 */
async function withTemplate(
  email: Fields,
  { id, variables }: Template,
  findTemplate: Translation['findTemplate'],
): Promise<Fields> {
  const template = (await findTemplate(id)) ?? { id, subject: OPEN_SUBJECT };
  const subject = email['subject'] ?? template.subject;
  return {
    ...email,
    ...(isGiven(subject) && { subject }),
    templateId: template.id,
    variables: variables ?? {},
  };
}

/** Emails of a batch in our words, each of them alone: one that cannot be translated has its refusal instead. */
export async function translateEach(
  emails: readonly unknown[],
  translation: Translation,
): Promise<(Fields | AppError)[]> {
  const translated: (Fields | AppError)[] = [];
  for (const email of emails) translated.push(await translateOne(email, translation));
  return translated;
}

async function translateOne(email: unknown, translation: Translation): Promise<Fields | AppError> {
  try {
    return await translateEmail(email, translation);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
