/** Sends an email again: a new one with the same content, to the same recipients. */
import { buffer } from 'node:stream/consumers';
import type { Static } from 'typebox';
import type { SendBody } from '../../../emails/schemas.ts';
import type { sentSchema } from '../../../emails/sent-schemas.ts';
import type { Calls } from '../../../http/json/calls.ts';
import { AppError } from '../../../system/errors.ts';
import { attachmentPath } from './file.ts';
import type { Email } from './recipients.tsx';

/** Maximum size of the attachments of an email that is sent again from a page, together: they are in memory meanwhile. */
export const MAX_RESENT_BYTES = 10 * 1024 * 1024;

/** Returns true for an email that can be sent again. The copies of a broadcast are sent by the broadcast, and content that was deleted is gone. */
export function mayResend({ broadcastId, contentDeletedAt, attachments }: Email): boolean {
  const bytes = attachments.reduce((sum, { size }) => sum + size, 0);
  return broadcastId === null && contentDeletedAt === null && bytes <= MAX_RESENT_BYTES;
}

/**
 * Sends the email again, and returns the id of the new one.
 * @throws AppError invalid_state for an email that cannot be sent again
 */
export async function resend(api: Calls, email: Email): Promise<string> {
  if (!mayResend(email)) throw new AppError('invalid_state', 'The email cannot be sent again from here');
  const { from, to, cc, bcc, replyTo, subject, type, headers, tags } = email;
  const { html, text, amp, calendar, topicId } = email;
  const body: SendBody = {
    from,
    to,
    cc,
    bcc,
    replyTo,
    subject,
    type,
    headers,
    tags,
    ...(html !== null && { html }),
    ...(text !== null && { text }),
    ...(amp !== null && { amp }),
    ...(calendar !== null && { calendar }),
    ...(topicId !== null && { topicId }),
    ...(email.attachments.length > 0 && { attachments: await filesOf(api, email) }),
  };
  return (await api.post<Static<typeof sentSchema>>('/emails', body)).id;
}

/** Returns the files of an email as a request has them. The invitation is made anew of the calendar, and is no file of the request. */
async function filesOf(
  api: Calls,
  { id, attachments, calendar }: Email,
): Promise<NonNullable<SendBody['attachments']>> {
  const files: NonNullable<SendBody['attachments']> = [];
  for (const [index, { filename, contentType, contentId, disposition }] of attachments.entries()) {
    if (calendar && index === attachments.length - 1) continue;
    const content = (await buffer((await api.stream(attachmentPath(id, index))).bytes)).toString('base64');
    const file = { filename, contentType, content, disposition };
    files.push(contentId === null ? file : { ...file, contentId });
  }
  return files;
}
