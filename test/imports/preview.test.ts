import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { contactImport } from '../../src/audiences/csv/import.ts';
import { previewImport } from '../../src/imports/preview.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { newAudience, sendCsv } from './jobs.ts';

let open: TestApp;
before(async () => {
  open = await openTestApp();
});
after(() => open.close());

async function preview(file: string | Buffer, query: Record<string, string> = {}) {
  const path = `/v1/audiences/${await newAudience(open)}/contacts/imports`;
  const { status, body } = await sendCsv(
    open,
    `${path}?${new URLSearchParams({ preview: 'true', ...query })}`,
    file,
  );
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

test('a preview shows the columns, the first rows, and what is unusual, and imports nothing', async () => {
  const file =
    'Email Address;First Name;Postal Code;Status\n' +
    'ada@example.com;Ada;1010;subscribed\nbob@example.com;Bob;;bounced\nc@example.com;C;;lead\nnobody;;;active\n';
  const shown = await preview(file, { mapping: '{"Postal Code":"properties.zip"}' });
  assert.deepEqual(shown, {
    encoding: 'utf-8',
    hasHeadings: true,
    columns: [
      { column: 1, heading: 'Email Address', field: 'email' },
      { column: 2, heading: 'First Name', field: 'firstName' },
      { column: 3, heading: 'Postal Code', field: 'properties.zip' },
      { column: 4, heading: 'Status', field: 'status' },
    ],
    checkedRows: 4,
    isComplete: true,
    failed: 2,
    rows: [
      {
        ...{ email: 'ada@example.com', firstName: 'Ada', lastName: null, status: 'subscribed' },
        ...{ properties: { zip: '1010' }, topics: [] },
      },
      {
        ...{ email: 'bob@example.com', firstName: 'Bob', lastName: null, status: 'unsubscribed' },
        ...{ properties: {}, topics: [] },
      },
    ],
    errors: [
      {
        ...{ line: 4, email: 'c@example.com' },
        error:
          '`Status` must be a status such as subscribed, active, pending, unsubscribed, blocklisted or bounced, not `lead`; `mapping` can leave the column out or make it a property',
      },
      { line: 5, email: 'nobody', error: '`email` must be one address such as ada@example.com' },
    ],
    warnings: [
      '2 of 4 rows would be refused; see `errors`',
      '1 of 2 contacts would be unsubscribed',
      '`Postal Code` becomes `properties.zip`',
    ],
  });
  assert.deepEqual((await open.request('GET', '/v1/imports')).body.data, []);
  assert.deepEqual(await open.app.db.read.selectFrom('contacts').selectAll().execute(), []);
});

test('a preview warns of a guessed encoding, of missing headings, of missing consent, and of a damaged end', async () => {
  const western = await preview(Buffer.from('a@example.com;Jos\xe9\n"b@example.com"x;Z\n', 'latin1'));
  assert.deepEqual([western.encoding, western.hasHeadings, western.checkedRows], ['windows-1252', false, 1]);
  assert.deepEqual(western.warnings, [
    'The file cannot be read to its end. Line 2: text follows a closing quote; quotes within a quoted cell are doubled',
    'The file is not UTF-8, so it is read as windows-1252; if letters are wrong, name its `encoding`',
    'The file has no heading line; `mapping` can name its columns by their numbers',
    'No column says who has subscribed, so new contacts are subscribed unless they have left before',
  ]);
  const pending = await preview('email,state\na@example.com,unconfirmed\n');
  assert.match(pending.warnings.join(), /1 of 1 contacts would be pending: each gets a confirmation mail/);
  const many = Array.from({ length: 101 }, (_, index) => `p${index}`).join();
  const large = await preview(`email,${many}\na@example.com,${many}\nb@example.com${',x'.repeat(100)},\n`);
  assert.match(large.warnings.join(), /1 of 2 contacts have more than 100 properties/);
  assert.equal((await preview(Buffer.from('\ufeffemail\na@b.example\n', 'utf16le'))).encoding, 'utf-16');
});

test('a file that cannot be imported has no preview', async () => {
  const path = `/v1/audiences/${await newAudience(open)}/contacts/imports?preview=true`;
  for (const [file, words] of [
    ['name\nAda\n', /has no `email`/],
    ['\n\n', /The file is empty/],
    ['email,x"y\n', /Line 1: a quote stands/],
  ] as const) {
    const { status, body } = await sendCsv(open, path, file);
    assert.equal(status, 400, file);
    assert.match(body.error.message, words);
  }
});

test('a preview reads only the beginning of a long file, whether its rows are short or long', async () => {
  const row = 'ada@example.com,Ada\n';
  const many = await preview(`email,first name\n${row.repeat(100_000)}`);
  assert.deepEqual([many.checkedRows, many.isComplete, many.rows.length], [1_000, false, 10]);
  assert.match(many.warnings.at(-1), /^Only the first 1000 rows were checked$/);
  const exact = await preview(`email,first name\n${row.repeat(1_000)}`);
  assert.deepEqual([exact.checkedRows, exact.isComplete], [1_000, true]);
  const long = await preview(`email,x\n${`a@example.com,${'x'.repeat(30_000)}\n`.repeat(200)}`);
  assert.ok(long.checkedRows < 50, `${long.checkedRows}`);
  assert.equal(long.isComplete, false);
});

test('a preview of a million rows reads as few pieces as one of two thousand', async () => {
  const job = { tenantId: open.tenantId, kind: 'contacts', audienceId: null, options: {} } as const;
  const rowsRead = async (rows: number) => {
    let read = 0;
    const handler = {
      ...contactImport,
      readHeadings: async (...given: Parameters<typeof contactImport.readHeadings>) => {
        const reader = await contactImport.readHeadings(...given);
        const readRow = (cells: readonly string[]) => {
          read++;
          return reader.readRow(cells);
        };
        return { ...reader, readRow };
      },
    };
    const file = Buffer.alloc('ada@example.com\n'.length * rows, 'ada@example.com\n');
    await previewImport(open.app, handler, { ...job, file });
    return read;
  };
  assert.equal(await rowsRead(1_000_000), await rowsRead(2_000));
});

test('a list of suppressions has a preview, too', async () => {
  const file = 'address,code,error,created_at\ngone@example.com,550,No such mailbox,1700000000\nx,,,\n';
  const { status, body } = await sendCsv(open, '/v1/suppressions/imports?preview=true', file);
  assert.equal(status, 200);
  assert.deepEqual(
    body.columns.map(({ field }: { field: string | null }) => field),
    ['email', 'reason', 'diagnostic', 'createdAt'],
  );
  assert.deepEqual(body.rows, [
    {
      ...{ email: 'gone@example.com', reason: 'bounce', diagnostic: 'No such mailbox' },
      createdAt: '2023-11-14T22:13:20.000Z',
    },
  ]);
  assert.deepEqual(body.warnings, [
    '1 of 2 rows would be refused; see `errors`',
    'Reasons of the checked rows: 1 bounce',
  ]);
  const list = await sendCsv(open, '/v1/suppressions/imports?preview=true', 'gone@example.com\n');
  assert.match(list.body.warnings.join(), /Reasons of the checked rows: 1 manual/);
  const plain = await sendCsv(open, '/v1/suppressions/imports?preview=true', 'email\ngone@example.com\n');
  assert.match(plain.body.warnings.join(), /No column says why the addresses are suppressed/);
  assert.equal((await open.request('GET', '/v1/suppressions/gone@example.com')).status, 404);
});
