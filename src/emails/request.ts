/**
 * Validates a send request beyond its shape, and reads it into the form that later steps use. It uses no database and
 * no network.
 */

import { readAll } from '../http/json/read-fields.ts';
import type { Calendar } from '../mail/message/calendar.ts';
import { invalid } from '../system/errors.ts';
import { type Addresses, readAddresses } from './request/addresses.ts';
import { type AttachmentRequest, type FindContent, readAttachments } from './request/attachments.ts';
import { readCalendar } from './request/calendar.ts';
import { type ContentRequest, readContent } from './request/content.ts';
import { type HeaderField, readHeaders } from './request/headers.ts';
import { refuseMisspelledFields } from './request/misspelled-fields.ts';
import { readSchedule, type Schedule } from './request/schedule.ts';
import { readTags, type Tag } from './request/tags.ts';
import type { EmailType, SendBody } from './schemas.ts';

export type EmailRequest = {
  type: EmailType;
  addresses: Addresses;
  content: ContentRequest;
  headers: HeaderField[];
  attachments: AttachmentRequest[];
  /** An invitation, which is part of the message and a file. */
  calendar?: Calendar | undefined;
  tags: Tag[];
  schedule: Schedule;
  topicId: string | undefined;
  /** Header fields of marketing mail when they are not those of its topic. */
  listFields?: readonly HeaderField[];
  /** True for mail that is never tracked, such as the test of a draft. */
  isUntracked?: true;
};

/**
 * Returns the validated request.
 * @throws AppError validation_error naming every field with a wrong value
 */
export function readSendRequest(
  body: SendBody,
  { findContent, now }: { findContent: FindContent; now: number },
): EmailRequest {
  const { misspelledFields: _, ...request } = readAll({
    misspelledFields: () => refuseMisspelledFields(body),
    topicId: () => readTopicId(body),
    addresses: () => readAddresses(body),
    content: () => readContent(body),
    headers: () => readHeaders(body.headers, body.type),
    attachments: () => readAttachments(body.attachments, findContent),
    calendar: () => body.calendar && readCalendar(body.calendar, findContent),
    tags: () => readTags(body.tags),
    schedule: () => readSchedule(body.scheduledAt, now),
  });
  return { type: body.type, ...request };
}

/**
 * Returns the id of the topic. A broadcast must name its topic.
 * @throws AppError validation_error
 */
function readTopicId({ type, topicId }: SendBody): string | undefined {
  if (type === 'broadcast' && topicId === undefined)
    throw invalid('topicId', '`topicId` is required when `type` is broadcast');
  return topicId;
}
