/** Reads the invitation of an email, and makes the file of it that programs without invitations show. */
import { type Calendar, findCalendarProblem, normalizeCalendar } from '../../mail/message/calendar.ts';
import type { Attachment } from '../../mail/message/file-part.ts';
import { invalid } from '../../system/errors.ts';
import type { SendBody } from '../schemas.ts';
import type { FindContent } from './attachments.ts';
import { wellFormed } from './text.ts';

const PATH = 'calendar.content';

/**
 * Returns the invitation of a request.
 * @throws AppError validation_error
 */
export function readCalendar(
  { method, content }: NonNullable<SendBody['calendar']>,
  findContent: FindContent,
): Calendar {
  // A large content was taken out of the body.
  const detached = findContent(content);
  const text = detached ? Buffer.from(detached).toString('utf8') : wellFormed(PATH, content);
  const calendar = { method, content: normalizeCalendar(text) };
  const problem = findCalendarProblem(calendar);
  if (problem) throw invalid(PATH, `\`${PATH}\` must ${problem}`);
  return calendar;
}

/** Returns the file of an invitation. Its type keeps mail programs from reading the invitation twice. */
export function inviteFile({ content }: Calendar): Attachment {
  return {
    filename: 'invite.ics',
    contentType: 'application/ics',
    contentId: undefined,
    content: { kind: 'bytes', bytes: Buffer.from(content) },
  };
}
