/** Fields to try that the example of an operation leaves out, because few callers need them. Ids are as in examples. */

import { SANDBOX } from '../emails/fixtures.ts';

const inDays = (days: number) => new Date(Date.now() + days * 24 * 3_600_000).toISOString();

const EMAIL = {
  cc: ['c@rcpt.example'],
  bcc: 'd@rcpt.example',
  replyTo: ['e@rcpt.example'],
  text: 'Hello',
  headers: { 'X-A': 'b' },
  attachments: [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain', contentId: 'a' }],
  scheduledAt: inDays(1),
  variables: { a: 'b' },
};
const WHOLE_EMAIL = {
  ...{ from: 'Ada <ada@a.example>', to: ['bob@rcpt.example'], subject: 'Hello', type: 'transactional' },
  ...{ html: '<p>', tags: { a: 'b' }, ...EMAIL },
};
const TOPICS = [{ id: `top_${'0'.repeat(26)}`, subscription: 'opt_in' }];

export const RICHER: Readonly<Record<string, object>> = {
  sendEmail: EMAIL,
  sendBatch: { emails: [WHOLE_EMAIL] },
  rescheduleEmail: { scheduledAt: inDays(2) },
  updateDomain: { openTracking: true, productType: 'both', region: 'sg' },
  createContact: { topics: TOPICS },
  updateContact: { email: 'other@rcpt.example', firstName: 'Ada', lastName: null, topics: TOPICS },
  updateWebhookEndpoint: { url: 'https://b.example/', events: ['email.queued'], description: 'y' },
  updateInboundRoute: { address: 'other@a.example', destination: 'https://receiver.example/other' },
  createMailbox: {
    password: 'correct horse',
    passwordLogin: true,
    scramLogin: true,
    quotaBytes: 1_000_000,
    disabledCapabilities: ['IDLE'],
    aliases: [`b@${SANDBOX}`],
  },
  updateMailbox: {
    displayName: 'Ann',
    aliases: [`c@${SANDBOX}`],
    password: 'correct horse',
    passwordLogin: false,
    scramLogin: false,
    status: 'suspended',
    disabledCapabilities: [],
  },
  updateTemplate: { name: 'Welcome', html: '<p>{{name|you}}</p>', text: '{{name}}' },
  updateTopic: { name: 'News', defaultOptIn: false },
  testBroadcast: { contactId: `ct_${'0'.repeat(26)}` },
  createBroadcast: { replyTo: 'answers@a.example', text: 'Hello {{{unsubscribe_url}}}' },
};
