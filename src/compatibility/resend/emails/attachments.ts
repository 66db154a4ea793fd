/** The calls about the files of emails that were sent. Their ids are their places, from 1. */
import { notFound } from '../../../system/errors.ts';
import type { Access, Call, Given } from '../call.ts';

type Attachment = {
  filename: string;
  contentType: string;
  contentId: string | null;
  disposition: string;
  size: number;
};

type Email = { id: string; attachments: readonly Attachment[] };

/** Shows a file. Its link takes the API key, so it does not expire. */
function showAttachment(email: Email, index: number, { links }: Access) {
  const file = email.attachments[index];
  if (!file) throw notFound('Attachment');
  const id = String(index + 1);
  return {
    id,
    filename: file.filename,
    size: file.size,
    content_type: file.contentType,
    content_disposition: file.disposition,
    ...(file.contentId !== null && { content_id: file.contentId }),
    download_url: `${links.origin}/v1/emails/${email.id}/attachments/${id}`,
    expires_at: null,
  };
}

/** Returns the request for the email of a file. */
export function askEmail({ params }: Given) {
  return { params: { id: params['id'] } };
}

export const attachmentCalls: readonly Call[] = [
  {
    at: 'GET /emails/:id/attachments',
    operation: 'getEmail',
    answer: (email: Email, _given, access) => ({
      object: 'list',
      has_more: false,
      data: email.attachments.map((_, index) => showAttachment(email, index, access)),
    }),
  },
  {
    at: 'GET /emails/:id/attachments/:number',
    operation: 'getEmail',
    ask: askEmail,
    answer: (email: Email, { params }, access) => ({
      object: 'attachment',
      ...showAttachment(email, Number(params['number']) - 1, access),
    }),
  },
];
