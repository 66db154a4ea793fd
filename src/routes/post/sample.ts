/** The sample of a post, for tests of routes. It has the shape of real posts, and `test` in addition. */
import type { InboundRouteRow } from '../../db/inbound-tables.ts';
import { isoTime } from '../../system/clock.ts';
import type { MessageFields } from './body.ts';

const FROM = 'Sam Sample <sam@example.org>';
const TEXT = 'This is a test of the route.';

/** Returns the body of a sample. */
export function sampleBody({ address }: Pick<InboundRouteRow, 'address'>, nowMs: number): string {
  const to = address.startsWith('*@') ? `anybody${address.slice(1)}` : address;
  const sample: Omit<MessageFields, 'attachments'> & { attachments: object[]; test: true } = {
    from: FROM,
    to: [to],
    subject: 'A sample',
    text: TEXT,
    html: '',
    headers: { from: FROM, to, subject: 'A sample', 'message-id': '<sample@example.org>' },
    attachments: [
      {
        id: '1',
        filename: 'sample.txt',
        contentType: 'text/plain',
        size: TEXT.length,
        contentId: null,
        disposition: 'attachment',
        content: Buffer.from(TEXT).toString('base64'),
      },
    ],
    id: 'in_00000000000000000000000000',
    cc: [],
    replyTo: [],
    messageId: '<sample@example.org>',
    inReplyTo: null,
    date: isoTime(nowMs),
    receivedAt: isoTime(nowMs),
    // The address is of a range that is reserved for documentation.
    envelope: { from: 'sam@example.org', to: [to], remoteIp: '192.0.2.1', helo: 'mail.example.org' },
    auth: { spf: 'pass', dkim: 'pass', dmarc: 'pass', dkimDomains: ['example.org'] },
    spam: { score: 0, flagged: false, reasons: [] },
    rawHeaders: [
      { name: 'From', value: FROM },
      { name: 'To', value: to },
      { name: 'Subject', value: 'A sample' },
      { name: 'Message-ID', value: '<sample@example.org>' },
    ],
    truncated: false,
    rawUrl: null,
    emailId: null,
    replyText: TEXT,
    autoSubmitted: false,
    test: true,
  };
  return JSON.stringify(sample);
}
