import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { importCsv, newAudience, sendCsv } from '../../imports/jobs.ts';
import { openTestApp, type TestApp } from '../../support/test-app.ts';

let open: TestApp;
before(async () => {
  open = await openTestApp();
});
after(() => open.close());

async function audience() {
  const path = `/v1/audiences/${await newAudience(open)}/contacts`;
  return {
    path,
    import: (file: string | Buffer, query: Record<string, string> = {}) =>
      importCsv(open, `${path}/imports?${new URLSearchParams(query)}`, file),
    send: (file: string | Buffer, query: Record<string, string>) =>
      sendCsv(open, `${path}/imports?${new URLSearchParams(query)}`, file),
    contact: async (email: string) => (await open.request('GET', `${path}/${email}`)).body,
  };
}

test('headings fold to the names of properties, and no two columns have the same', async () => {
  const readers = await audience();
  const headings = [
    ...['Postal Code', 'Plan', 'plan', 'Straße / Nr.', 'Größe', 'État (civil)', '会社名', '  %  '],
    ...['Phone', 'Phone', 'Phone_2', 'x'.repeat(80), 'x'.repeat(90)],
  ];
  const job = await readers.import(
    `email,${headings.join()}\na@b.example,${headings.map((_, index) => `v${index}`).join()}\n`,
  );
  assert.deepEqual([job.status, job.failed], ['completed', 0]);
  assert.deepEqual((await readers.contact('a@b.example')).properties, {
    ...{ Postal_Code: 'v0', Plan: 'v1', plan: 'v2', Strasse_Nr: 'v3', Grosse: 'v4', Etat_civil: 'v5' },
    ...{ column_8: 'v6', column_9: 'v7', Phone: 'v8', Phone_2: 'v9', Phone_2_2: 'v10' },
    ...{ [`${'x'.repeat(64)}`]: 'v11', [`${'x'.repeat(62)}_2`]: 'v12' },
  });
});

test('cells are trimmed, also of characters that nobody sees, and formulas stay text', async () => {
  const readers = await audience();
  const job = await readers.import(
    '\ufeff email \u00a0,First Name,a,b,c,d\n' +
      '\u200b a@b.example\u2060,\u00a0Ada\ufeff, =1+1 ,@sum,+44 1,"-2\r\nx"\n',
  );
  assert.equal(job.created, 1);
  const { firstName, properties } = await readers.contact('a@b.example');
  assert.deepEqual([firstName, properties], ['Ada', { a: '=1+1', b: '@sum', c: '+44 1', d: '-2 x' }]);
});

test('a cell with very many blanks is trimmed at once', async () => {
  const readers = await audience();
  const job = await readers.import(`email,a\na@b.example,${`x${' '.repeat(30_000)}`.repeat(2)}y\n`);
  assert.equal(job.failed, 1);
});

test('a whole name is split at its first space, unless the file has the names', async () => {
  const readers = await audience();
  await readers.import('email,Full Name\na@b.example,Ludwig van Beethoven\nb@b.example,Ada\n');
  await readers.import('email,name,first name\nc@b.example,Byron,Ada\n');
  const namesOf = async (email: string) => {
    const { firstName, lastName } = await readers.contact(email);
    return [firstName, lastName];
  };
  assert.deepEqual(await namesOf('a@b.example'), ['Ludwig', 'van Beethoven']);
  assert.deepEqual(await namesOf('b@b.example'), ['Ada', null]);
  assert.deepEqual(await namesOf('c@b.example'), ['Ada', 'Byron']);
});

test('a mapping in the request wins over every heading', async () => {
  const readers = await audience();
  const mapping = JSON.stringify({
    ...{ Kontakt: 'email', Email: 'properties.other', status: 'properties.status', 'first name': null },
    ...{ 5: 'lastName', GONE: 'unsubscribed' },
  });
  const file =
    'Kontakt,Email,Status,First Name,Zuname,Gone\na@b.example,b@b.example,lead,Ada,Byron,\nc@b.example,,x,,,yes\n';
  const job = await readers.import(file, { mapping });
  assert.deepEqual([job.created, job.failed], [2, 0]);
  const { firstName, lastName, status, properties } = await readers.contact('a@b.example');
  assert.deepEqual([firstName, lastName, status], [null, 'Byron', 'subscribed']);
  assert.deepEqual(properties, { other: 'b@b.example', status: 'lead' });
  assert.equal((await readers.contact('c@b.example')).status, 'unsubscribed');
});

test('a mapping names the columns of a file without headings by their numbers', async () => {
  const readers = await audience();
  const mapping = JSON.stringify({ 1: 'firstName', 2: 'properties.old', 3: 'email', 4: 'status' });
  const job = await readers.import('Ada,a@b.example,b@b.example,cancelled\n', { mapping });
  assert.equal(job.created, 1);
  const { firstName, status, properties } = await readers.contact('b@b.example');
  assert.deepEqual([firstName, status, properties], ['Ada', 'unsubscribed', { old: 'a@b.example' }]);
});

test('a heading that is an address is a heading, when another one names the addresses', async () => {
  const readers = await audience();
  const job = await readers.import('email,news@example.com\na@b.example,member\n');
  assert.deepEqual([job.rows, job.created], [1, 1]);
  assert.deepEqual((await readers.contact('a@b.example')).properties, { news_example_com: 'member' });
});

test('a mapping that cannot be used is refused with its mistake', async () => {
  const readers = await audience();
  const file = 'email,note,Note,x\na@b.example,1,2,3\n';
  for (const [mapping, words] of [
    ['{', /must be a JSON object/],
    ['[]', /must be a JSON object/],
    ['null', /must be a JSON object/],
    ['{"x":"emial"}', /gives `x` no field that exists: `email`, /],
    ['{"x":"properties.a b"}', /gives `x` no field that exists/],
    ['{"x":1}', /gives `x` no field that exists/],
    ['{"y":"email"}', /names no column of the file with `y`/],
    ['{"9":"email"}', /names no column of the file with `9`/],
    ['{"NOTE":"lastName"}', /names more than one column of the file with `NOTE`/],
    ['{"x":"email","note":"email"}', /Columns 2 and 4 are both `x`/],
    ['{"email":null}', /The heading line has no `email`/],
    [
      JSON.stringify(Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, null]))),
      /at most 100 columns/,
    ],
  ] as const) {
    const { status, body } = await readers.send(file, { mapping });
    assert.equal(status, 400, mapping);
    assert.match(body.error.message, words);
  }
});

test('a file in another encoding is read when the request names it', async () => {
  const readers = await audience();
  const file = Buffer.concat([
    Buffer.from('email,first name\na@b.example,'),
    Buffer.from([0xc0, 0xed, 0xed, 0xe0, 0x0a]),
  ]);
  await readers.import(file, { encoding: 'windows-1251' });
  assert.equal((await readers.contact('a@b.example')).firstName, 'Анна');
  const western = Buffer.from('email,first name\nb@b.example,Jos\xe9 \x80\n', 'latin1');
  await readers.import(western);
  assert.equal((await readers.contact('b@b.example')).firstName, 'José €');
  const { status, body } = await readers.send(western, { encoding: 'utf-8' });
  assert.deepEqual([status, /byte 33 is not/.test(body.error.message)], [400, true]);
  assert.equal((await readers.send(western, { encoding: 'ebcdic' })).body.error.param, 'encoding');
});
