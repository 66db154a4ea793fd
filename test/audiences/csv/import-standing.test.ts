import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findConsent } from '../../../src/audiences/csv/import-standing.ts';
import { plainForm } from '../../../src/imports/plain-form.ts';
import { importCsv, newAudience } from '../../imports/jobs.ts';
import { openTestApp } from '../../support/test-app.ts';
import { PRODUCT_FILES } from './product-files.ts';

const open = await openTestApp();
after(() => open.close());

/** Imports rows that have the address and the columns, and returns the status of each contact; null for a row that was refused. */
async function statusesOf(headings: string, rows: readonly string[]) {
  const contacts = `/v1/audiences/${await newAudience(open)}/contacts`;
  const lines = rows.map((row, index) => `r${index}@example.com,${row}`);
  const job = await importCsv(open, `${contacts}/imports`, `email,${headings}\n${lines.join('\n')}\n`);
  const { body } = await open.request('GET', `${contacts}?limit=100`);
  const statuses = new Map<string, string>(
    body.data.map(({ email, status }: { email: string; status: string }) => [email, status]),
  );
  const { body: errors } = await open.request('GET', `/v1/imports/${job.id}/errors`);
  return { statuses: rows.map((_, index) => statuses.get(`r${index}@example.com`) ?? null), errors };
}

async function expectAll(
  heading: string,
  cells: readonly string[],
  expected: 'subscribed' | 'unsubscribed' | null,
) {
  const { statuses } = await statusesOf(heading, cells);
  assert.deepEqual(
    statuses,
    cells.map(() => expected),
    `${heading}: ${cells.join('; ')}`,
  );
}

test('a status of other products subscribes only the readers who have subscribed', async () => {
  for (const heading of [
    'status',
    'Email Marketing Consent',
    'Subscription Status',
    'EMAIL_STATUS',
    'Mailing list status',
  ]) {
    const subscribed = [
      'subscribed',
      'Active',
      'confirmed',
      'ENABLED',
      ' opted-in\u00a0',
      '\u200bDouble Opt-In',
    ];
    await expectAll(heading, subscribed, 'subscribed');
    await expectAll(
      heading,
      [
        ...['unsubscribed', 'Blocklisted', 'cancelled', 'Canceled', 'bounced', 'hard_bounce', 'cleaned'],
        ...[
          'complained',
          'NEVER_SUBSCRIBED',
          'Non-Subscribed',
          'opt_out',
          'inactive',
          'désabonné',
          'No Permissions Set',
        ],
      ],
      'unsubscribed',
    );
    await expectAll(heading, ['', ' ', 'lead', 'true', '1', 'null', 'un subscribed?!x', 'constructor'], null);
  }
});

test('a reader who has not confirmed is refused when the audience has no confirmation mail', async () => {
  const { statuses, errors } = await statusesOf('status', ['pending', 'Unconfirmed']);
  assert.deepEqual(statuses, [null, null]);
  assert.match(errors, /the audience has no `optIn` settings/);
});

test('a flag of consent subscribes nobody without a clear yes', async () => {
  for (const heading of [
    'subscribed_to_emails',
    'Accepts Email Marketing',
    'opt-in',
    'Newsletter consent',
    'Suscrito',
    'Einwilligung',
    'Subscribed',
  ]) {
    await expectAll(
      heading,
      ['true', 'YES', '1', 'wahr', 'sí', 'subscribed', '2026-01-02 03:04:05'],
      'subscribed',
    );
    await expectAll(heading, ['false', 'no', '0', 'FALSCH', 'unsubscribed', 'bounced'], 'unsubscribed');
    await expectAll(heading, ['', 'maybe', '2'], null);
  }
});

test('a flag of those who have left is obeyed, and an empty one says nothing', async () => {
  const headings = [
    ...['Unsubscribed from all email', 'Opted out of email: Marketing Information', 'EMAIL_BLACKLISTED'],
    ...[
      'HasOptedOutOfEmail',
      'email_disabled',
      'Do Not Email',
      'is_unsubscribed',
      'Global opt-out',
      'Abgemeldet',
      'Baja',
      'Désabonné(e)',
    ],
  ];
  for (const heading of headings) {
    await expectAll(heading, ['false', 'No', '0', '', 'subscribed', 'null'], 'subscribed');
    await expectAll(
      heading,
      ['true', 'Yes', '1', 'unsubscribed', '2026-01-02T03:04:05Z', 'VRAI'],
      'unsubscribed',
    );
    await expectAll(heading, ['perhaps', 'active', '3'], null);
  }
});

test('a time or a reason of leaving is enough', async () => {
  for (const heading of [
    'UNSUB_TIME',
    'unsubscribed_at',
    'CLEAN_CAMPAIGN_TITLE',
    'dnc',
    'Opt-out date',
    'EmailBouncedReason',
    'Email suppressions',
  ]) {
    await expectAll(heading, ['', '0', 'null', '0000-00-00 00:00:00', '-', '[]'], 'subscribed');
    await expectAll(heading, ['2026-01-02', '1700000000', 'NORMAL', '2', 'true'], 'unsubscribed');
  }
});

test('nobody is subscribed when columns disagree', async () => {
  const { statuses } = await statusesOf('status,unsubscribed,Accepts Marketing,UNSUB_TIME', [
    'subscribed,no,yes,',
    'unsubscribed,no,yes,',
    'subscribed,yes,yes,',
    'subscribed,no,no,',
    'subscribed,no,yes,2026-01-02',
    'lead,yes,yes,',
    'lead,no,yes,',
  ]);
  const left = 'unsubscribed';
  assert.deepEqual(statuses, ['subscribed', left, left, left, left, left, null]);
});

test('an empty cell of consent is refused unless another column says something', async () => {
  const { statuses } = await statusesOf('status,opt-in,unsubscribed,UNSUB_TIME', [
    ',,,',
    ',,no,',
    'active,,,',
    ',yes,,',
    ',,,2026-01-02',
    ',,yes,',
    ',maybe,no,',
    ',,subscribed,',
  ]);
  const [left, subscribed] = ['unsubscribed', 'subscribed'];
  assert.deepEqual(statuses, [null, subscribed, subscribed, subscribed, left, left, null, subscribed]);
});

test('a reader has not subscribed by not having bounced', async () => {
  for (const heading of ['Bounced', 'Marked as spam', 'Is suppressed', 'email_disabled', 'Is blocked'])
    assert.deepEqual((await statusesOf(`opt-in,${heading}`, [',no', 'yes,no'])).statuses, [
      null,
      'subscribed',
    ]);
});

test('a date in any order tells that a reader has subscribed, or has left', async () => {
  const dates = ['02/01/2026', '2.1.26 10:00', '"Jan 2, 2026 3:04 PM"', '2 January 2026', '2026-1-2'];
  await expectAll('Subscribed', dates, 'subscribed');
  await expectAll('Unsubscribed', dates, 'unsubscribed');
  await expectAll('Unsubscribed', ['12345', '1.2', 'May I?', '2-3 mails'], null);
});

test('a column that may mean something else counts where it is understood, and stays a property', async () => {
  const { statuses } = await statusesOf('state,newsletter', [
    'NY,Weekly',
    'active,yes',
    'cancelled,yes',
    'bounced,',
    'CA,no',
    ',',
  ]);
  assert.deepEqual(statuses, [
    'subscribed',
    'subscribed',
    'unsubscribed',
    'unsubscribed',
    'unsubscribed',
    'subscribed',
  ]);
});

test('a clear word in a column that nobody recognises refuses the row', async () => {
  await expectAll('Mailing', ['unsubscribed', 'Blocklisted', 'opted-out'], null);
  await expectAll('Order', ['cancelled', 'active', 'unsubscribed from one of two lists'], 'subscribed');
  await expectAll('properties.mailing', ['unsubscribed'], 'subscribed');
  const contacts = `/v1/audiences/${await newAudience(open)}/contacts`;
  const job = await importCsv(
    open,
    `${contacts}/imports`,
    'a@example.com,unsubscribed\nb@example.com,gold\n',
  );
  assert.deepEqual([job.created, job.failed], [1, 1]);
});

test('a file with a status unsubscribes a contact, and subscribes no contact again', async () => {
  const contacts = `/v1/audiences/${await newAudience(open)}/contacts`;
  const statusOf = async () => (await open.request('GET', `${contacts}/a@example.com`)).body.status;
  for (const [cell, expected] of [
    ['subscribed', 'subscribed'],
    ['bounced', 'unsubscribed'],
    ['subscribed', 'unsubscribed'],
  ]) {
    await importCsv(open, `${contacts}/imports`, `email,status\na@example.com,${cell}\n`);
    assert.equal(await statusOf(), expected);
  }
});

test('the refusal of a status says what is allowed, and how to import the column as a property', async () => {
  const { errors } = await statusesOf('Status', ['"=lead"']);
  assert.match(
    errors,
    /`Status` must be a status such as subscribed, .*, not `=lead`; `mapping` can leave the column out/,
  );
});

test('the headings of other products and languages tell what a column is about', () => {
  const kindOf = (text: string) =>
    findConsent({ column: 0, text, plain: plainForm(text), mapped: undefined })?.kind;
  for (const [kind, headings] of [
    [
      'unsubscribed',
      [
        // The name of a type of mail does not change what the column says.
        ...['Membership', 'Discount', 'Platform', 'Mobile app', 'Delivery updates'].map(
          (name) => `Opted out of email: ${name}`,
        ),
        ...['Marketing opt-out (email and SMS)', 'Invoice opt-out', 'Automobile newsletter opt-out'],
        ...['Email opt-out status', 'Do not market', 'No mail', 'Abbestellt', 'Werbesperre', 'Afmeldt'],
        ...[
          'Avregistrerad',
          'Wypisany',
          'Odhlášen',
          '退订',
          '配信停止',
          '수신거부',
          'Is blocked',
          'Complaints',
        ],
      ],
    ],
    ['unsubscribedAt', ['Consent withdrawn', 'Consent revoked at', 'Revoked consent', 'Bounce type']],
    [
      'subscribed',
      [
        ...['Consent to receive updates', 'Opt-in: promotion', 'Opt-in (open source)', 'Verified opt-in'],
        ...['Receives newsletter', 'Can be emailed', 'Zgoda', 'Souhlas', 'Согласие', '수신동의'],
      ],
    ],
    ['status', ['Newsletter member status', 'Suppression status']],
    [
      undefined,
      [
        ...['SMS marketing consent', 'Phone opt-out', 'Email deliverability status', 'Unsubscribe link'],
        ...[
          'Opt-in IP',
          'Consent given at',
          'Consent timestamp',
          'Consent form version',
          'Opt-in verified on',
        ],
        ...['Alumno email', 'American email', 'Mailing address', 'Soft bounces', 'Email domain'],
      ],
    ],
  ] as const) {
    for (const heading of headings) assert.equal(kindOf(heading), kind, heading);
  }
});

test('a reader who took back the consent is not subscribed', async () => {
  await expectAll('Consent withdrawn', ['yes', '2026-01-02'], 'unsubscribed');
  await expectAll('Consent withdrawn', ['no', ''], 'subscribed');
  await expectAll('Opted out of email: Membership', ['true'], 'unsubscribed');
});

for (const [product, { file, expected }] of Object.entries(PRODUCT_FILES)) {
  test(`an export is imported as it is: ${product}`, async () => {
    const contacts = `/v1/audiences/${await newAudience(open)}/contacts`;
    const job = await importCsv(open, `${contacts}/imports`, file);
    assert.deepEqual([job.status, job.failed, job.created], ['completed', 0, job.rows], JSON.stringify(job));
    const { body } = await open.request('GET', `${contacts}/ada@example.com`);
    const found = Object.fromEntries(Object.keys(expected).map((field) => [field, body[field]]));
    assert.deepEqual(found, expected);
  });
}
