/** Sends an email again: a new one with the same content, to the same recipients. */
import type { Static } from 'typebox';
import type { SendBody } from '../../../emails/schemas.ts';
import type { sentSchema } from '../../../emails/show.ts';
import type { Calls } from '../../calls.ts';
import type { Email } from './recipients.tsx';

/**
 * Returns true for an email that can be sent again. The copies of a broadcast are sent by the broadcast, content that was deleted is gone, and
 * the API does not return the bytes of attachments.
 */
export function mayResend({ broadcastId, contentDeletedAt, attachments }: Email): boolean {
  return broadcastId === null && contentDeletedAt === null && attachments.length === 0;
}

/** Sends the email again, and returns the id of the new one. */
export async function resend(api: Calls, email: Email): Promise<string> {
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
  };
  return (await api.post<Static<typeof sentSchema>>('/emails', body)).id;
}
