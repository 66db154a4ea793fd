import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { importCsv } from '../imports/jobs.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

let open: TestApp;
before(async () => {
  open = await openTestApp();
});
after(() => open.close());
beforeEach(async () => {
  await open.request('DELETE', '/v1/suppressions/gone@example.com');
});

const IMPORTS = '/v1/suppressions/imports';

type Expected = { reason: string; diagnostic?: string | null; createdAt?: string };

/** Lists of other products. The address of each row is gone@example.com. */
const LISTS: Readonly<Record<string, [file: string | Buffer, expected: Expected]>> = {
  'SendGrid, bounces': [
    'status,reason,email,created\n5.1.1,550 5.1.1 The email account that you tried to reach does not exist.,gone@example.com,1700000000\n',
    {
      reason: 'bounce',
      diagnostic: '550 5.1.1 The email account that you tried to reach does not exist.',
      createdAt: '2023-11-14T22:13:20.000Z',
    },
  ],
  'SendGrid, blocks': [
    'created,email,reason,status\n1700000000,gone@example.com,"421 4.7.0 Try again later, closing connection",4.7.0\n',
    { reason: 'bounce' },
  ],
  'SendGrid, invalid emails': [
    'email,reason,created\ngone@example.com,Mail domain mentioned in email address is unknown,1700000000\n',
    { reason: 'bounce', createdAt: '2023-11-14T22:13:20.000Z' },
  ],
  'SendGrid, spam reports': [
    'email,created,ip\ngone@example.com,1700000000,192.0.2.1\n',
    { reason: 'complaint', diagnostic: null },
  ],
  'SendGrid, unsubscribes': ['email,created\ngone@example.com,1700000000\n', { reason: 'unsubscribe' }],
  'Mailgun, bounces': [
    'address,code,error,created_at\ngone@example.com,550,No such mailbox,"Fri, 21 Nov 2025 11:02:55 GMT"\n',
    { reason: 'bounce', diagnostic: 'No such mailbox', createdAt: '2025-11-21T11:02:55.000Z' },
  ],
  'Mailgun, bounces without a text': [
    'address,code,error,created_at\ngone@example.com,605,,"Fri, 21 Nov 2025 11:02:55 UTC"\n',
    { reason: 'bounce', diagnostic: null },
  ],
  'Mailgun, complaints': [
    'address,created_at\ngone@example.com,"Fri, 21 Nov 2025 11:02:55 UTC"\n',
    { reason: 'complaint' },
  ],
  'Mailgun, unsubscribes': [
    'address,tags,created_at\ngone@example.com,*,"Fri, 21 Nov 2025 11:02:55 UTC"\n',
    { reason: 'unsubscribe' },
  ],
  'Amazon SES': [
    'EmailAddress,Reason,LastUpdateTime\ngone@example.com,COMPLAINT,2025-01-02T03:04:05.678000+00:00\n',
    { reason: 'complaint', createdAt: '2025-01-02T03:04:05.678Z' },
  ],
  'Amazon SES, a file for its import': ['gone@example.com,BOUNCE\n', { reason: 'bounce', diagnostic: null }],
  'Postmark, a bounce': [
    'EmailAddress,SuppressionReason,Origin,CreatedAt\ngone@example.com,HardBounce,Recipient,2025-01-02T03:04:05Z\n',
    { reason: 'bounce', diagnostic: null, createdAt: '2025-01-02T03:04:05.000Z' },
  ],
  'Postmark, a complaint': [
    'EmailAddress,SuppressionReason,Origin,CreatedAt\ngone@example.com,SpamComplaint,Recipient,2019-12-17T08:58:33-05:00\n',
    { reason: 'complaint', createdAt: '2019-12-17T13:58:33.000Z' },
  ],
  'Postmark, a reader who has left': [
    'EmailAddress,SuppressionReason,Origin,CreatedAt\ngone@example.com,ManualSuppression,Recipient,2025-01-02T03:04:05Z\n',
    { reason: 'unsubscribe' },
  ],
  'Postmark, by the sender': [
    'EmailAddress,SuppressionReason,Origin,CreatedAt\ngone@example.com,ManualSuppression,Customer,2025-01-02T03:04:05Z\n',
    { reason: 'manual' },
  ],
  'Mandrill, a bounce': [
    'email,reason,detail,created_at,last_event_at,expires_at,expired,sender,subaccount\ngone@example.com,hard-bounce,550 mailbox does not exist,2025-01-02 03:04:05,2025-01-02 03:04:05,2026-01-02 03:04:05,no,,\n',
    { reason: 'bounce', diagnostic: '550 mailbox does not exist', createdAt: '2025-01-02T03:04:05.000Z' },
  ],
  'Mandrill, a reader who has left': [
    'Email,Reason,Detail,Created At,Expires At\ngone@example.com,unsub,,2025-01-02 03:04:05,\n',
    { reason: 'unsubscribe' },
  ],
  'Brevo, a complaint': [
    'Email;Sender email;Reason;Blocked at\ngone@example.com;shop@example.org;contactFlaggedAsSpam;2025-01-02T03:04:05.000+01:00\n',
    { reason: 'complaint', createdAt: '2025-01-02T02:04:05.000Z' },
  ],
  'Brevo, by an administrator': [
    'email,senderEmail,reason,blockedAt\ngone@example.com,shop@example.org,adminBlocked,2025-01-02\n',
    { reason: 'manual' },
  ],
  'Mailchimp, cleaned members': [
    '"Email Address","First Name",CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,CLEAN_CAMPAIGN_ID,LEID,EUID,TAGS\ngone@example.com,Ada,"2025-02-03 04:05:06",News,c1,1,abc,\n',
    { reason: 'bounce', createdAt: '2025-02-03T04:05:06.000Z' },
  ],
  'Mailchimp, unsubscribed members': [
    'Email Address,First Name,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON\ngone@example.com,Ada,2025-02-03 04:05:06,News,SPAM\n',
    { reason: 'unsubscribe', createdAt: '2025-02-03T04:05:06.000Z' },
  ],
  'HubSpot, unsubscribes and bounces': [
    'Email,Portal Bounce,Portal Unsubscribe,Portal Spam Report,Global Bounce\ngone@example.com,FALSE,TRUE,TRUE,FALSE\n',
    { reason: 'complaint' },
  ],
  'Klaviyo, suppressed profiles': [
    'Email,Reason,Timestamp\ngone@example.com,HARD_BOUNCE,2023-02-21T20:07:38+00:00\n',
    { reason: 'bounce', createdAt: '2023-02-21T20:07:38.000Z' },
  ],
  'a list in UTF-16 with a line for the separator': [
    Buffer.from('\ufeffsep=;\r\nE-Mail-Adresse;Status\r\ngone@example.com;Unsubscribed\r\n', 'utf16le'),
    { reason: 'unsubscribe' },
  ],
  'two columns with the same time': [
    'email,Date,date\ngone@example.com,2025-01-02,\n',
    { reason: 'manual', createdAt: '2025-01-02T00:00:00.000Z' },
  ],
  'a list of addresses': ['gone@example.com\n', { reason: 'manual' }],
};

for (const [product, [file, expected]] of Object.entries(LISTS)) {
  test(`a list of another product is imported as it is: ${product}`, async () => {
    const job = await importCsv(open, IMPORTS, file);
    assert.deepEqual([job.status, job.created, job.failed], ['completed', 1, 0], JSON.stringify(job));
    const { body } = await open.request('GET', '/v1/suppressions/gone@example.com');
    const found = Object.fromEntries(Object.keys(expected).map((field) => [field, body[field]]));
    assert.deepEqual(found, expected);
  });
}

async function importedReason(file: string, query = ''): Promise<string> {
  const job = await importCsv(open, `${IMPORTS}${query}`, file);
  assert.deepEqual([job.created, job.failed], [1, 0], file);
  const { body } = await open.request('GET', '/v1/suppressions/gone@example.com');
  await open.request('DELETE', '/v1/suppressions/gone@example.com');
  return body.reason;
}

test('the reason is found in longer texts, and the reply of a server is a bounce whatever it says', async () => {
  for (const [cell, expected] of [
    ['bounce/permanent', 'bounce'],
    ['hard_bounce_general', 'bounce'],
    ['Complaint (abuse)', 'complaint'],
    ['Unsubscribed by user', 'unsubscribe'],
    ['opted-out by link', 'unsubscribe'],
    ['550 5.7.1 rejected: spam reports about unsubscribed readers', 'bounce'],
    ['Known bad domain', 'bounce'],
  ] as const) {
    assert.equal(await importedReason(`email,reason\ngone@example.com,${cell}\n`), expected, cell);
  }
});

test('a reason that is not understood becomes the one of the request, or manual', async () => {
  for (const cell of ['', 'Zonk', 'constructor', '"a, b"', '42', '5.1']) {
    const file = `email,reason\ngone@example.com,${cell}\n`;
    assert.equal(await importedReason(file), 'manual', cell);
    assert.equal(await importedReason(file, '?reason=complaint'), 'complaint', cell);
  }
});

test('the reason of the request wins over one that only the headings tell, and not over one in the row', async () => {
  const unsubscribes = 'address,tags,created_at\ngone@example.com,*,\n';
  assert.equal(await importedReason(unsubscribes, '?reason=bounce'), 'bounce');
  assert.equal(await importedReason('email,reason\ngone@example.com,spam\n', '?reason=bounce'), 'complaint');
});

test('an entry that its product no longer obeys suppresses nobody', async () => {
  const job = await importCsv(open, IMPORTS, 'email,reason,expired\ngone@example.com,soft-bounce,yes\n');
  assert.deepEqual([job.created, job.failed], [0, 1]);
  const { body: errors } = await open.request('GET', `/v1/imports/${job.id}/errors`);
  assert.match(errors, /The entry has expired/);
});

test('a time in the future is the time of the import', async () => {
  await importCsv(open, IMPORTS, 'email,created\ngone@example.com,4000000000\n');
  const { body } = await open.request('GET', '/v1/suppressions/gone@example.com');
  assert.ok(Date.parse(body.createdAt) <= open.app.clock.now(), body.createdAt);
});

test('a mapping in the request wins over every heading', async () => {
  const mapping = JSON.stringify({ a: 'email', b: 'reason', reason: null, email: null, 5: 'createdAt' });
  const file = 'email,reason,a,b,c\nold@example.com,complaint,gone@example.com,unsub,2025-01-02\n';
  await importCsv(open, `${IMPORTS}?${new URLSearchParams({ mapping })}`, file);
  const { body } = await open.request('GET', '/v1/suppressions/gone@example.com');
  assert.deepEqual([body.reason, body.createdAt], ['unsubscribe', '2025-01-02T00:00:00.000Z']);
});
