/**
 * A send request, checked beyond its shape and read into what the steps after it work with. Everything here is answered
 * from the request alone: no database, no network.
 */
import { invalid, readAll } from '../system/errors.ts';
import { type Addresses, readAddresses } from './request/addresses.ts';
import { type AttachmentRequest, type FindContent, readAttachments } from './request/attachments.ts';
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
  tags: Tag[];
  schedule: Schedule;
  topicId: string | undefined;
};

/** @throws AppError validation_error naming every field whose value is wrong */
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
    tags: () => readTags(body.tags),
    schedule: () => readSchedule(body.scheduledAt, now),
  });
  return { type: body.type, ...request };
}

/** decisions.md 7: a broadcast names its topic. */
function readTopicId({ type, topicId }: SendBody): string | undefined {
  if (type === 'broadcast' && topicId === undefined)
    throw invalid('topicId', '`topicId` is required when `type` is broadcast');
  return topicId;
}
