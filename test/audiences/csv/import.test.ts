import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { contactImport } from '../../../src/audiences/csv/import.ts';
import { importCsv, lease, newAudience, runImport, sendCsv } from '../../imports/jobs.ts';
import { openTestApp } from '../../support/test-app.ts';

const open = await openTestApp();
after(() => open.close());

async function audience() {
  const id = await newAudience(open);
  const path = `/v1/audiences/${id}/contacts`;
  return {
    id,
    path,
    import: (file: string | Buffer, query: Record<string, string> = {}) =>
      importCsv(open, `${path}/imports?${new URLSearchParams(query)}`, file),
    send: (file: string | Buffer, query: Record<string, string> = {}) =>
      sendCsv(open, `${path}/imports?${new URLSearchParams(query)}`, file),
    contact: async (email: string) =>
      (await open.request('GET', `${path}/${encodeURIComponent(email)}`)).body,
    count: async () => (await open.request('GET', `/v1/audiences/${id}`)).body.contactCount,
  };
}

async function newTopic(name: string): Promise<string> {
  return (await open.request('POST', '/v1/topics', { body: { name } })).body.id;
}

async function errorsOf(job: { id: string }): Promise<string[]> {
  const { body } = await open.request('GET', `/v1/imports/${job.id}/errors`);
  return body.split('\r\n').slice(1, -1);
}

test('a file becomes contacts, with all it says of them', async () => {
  const readers = await audience();
  const topic = await newTopic('News');
  const job = await readers.import(
    `Email;FIRST_NAME;last-name;Unsubscribed;topics.${topic};properties.Plan;seats;trial\r\n` +
      'Ada@Example.com;Ada;"Love;lace";no;yes;pro;12;true\r\n' +
      'bob@example.com;;;1;0;;;TRUE\r\n',
  );
  const { status, rows, created, updated, skipped, failed, error, processedBytes, sizeBytes } = job;
  assert.deepEqual(
    { status, rows, created, updated, skipped, failed, error },
    { status: 'completed', rows: 2, created: 2, updated: 0, skipped: 0, failed: 0, error: null },
  );
  assert.equal(processedBytes, sizeBytes);
  const ada = await readers.contact('ada@example.com');
  assert.deepEqual(
    { ...ada, id: '', audienceId: '', createdAt: '', updatedAt: '' },
    {
      ...{ id: '', audienceId: '', createdAt: '', updatedAt: '' },
      ...{ email: 'Ada@Example.com', firstName: 'Ada', lastName: 'Love;lace' },
      ...{ unsubscribed: false, unsubscribedAt: null, status: 'subscribed' },
      ...{ consent: null, confirmation: null },
      properties: { Plan: 'pro', seats: '12', trial: true },
      topics: [{ id: topic, subscription: 'opt_in' }],
    },
  );
  const bob = await readers.contact('bob@example.com');
  assert.equal(bob.unsubscribed, true);
  assert.equal(bob.firstName, null);
  assert.deepEqual(bob.properties, { trial: 'TRUE' });
  assert.deepEqual(bob.topics, [{ id: topic, subscription: 'opt_out' }]);
  assert.equal(await readers.count(), 2);
});

test('files of spreadsheets are read: UTF-16 with tabs, and rows of nothing but tabs', async () => {
  const readers = await audience();
  const text = '\ufeffemail\tfirst name\r\njosé@bücher.example\tJosé\r\n\t\r\n';
  const job = await readers.import(Buffer.from(text.replace('josé@', 'jose@'), 'utf16le'));
  assert.deepEqual([job.rows, job.created], [1, 1]);
  assert.equal((await readers.contact('jose@bücher.example')).firstName, 'José');
});

test('contacts that are there are updated, and empty cells leave them what they have', async () => {
  const readers = await audience();
  await readers.import('email,first name,plan,color\na@b.example,Ada,pro,red\nc@b.example,Cy,pro,red\n');
  const job = await readers.import(
    'email,first name,plan,size\nA@B.example,,free,XL\nc@b.example,Cy,pro,\nd@b.example,,,\n',
  );
  assert.deepEqual([job.created, job.updated, job.skipped], [1, 1, 1]);
  const ada = await readers.contact('a@b.example');
  assert.equal(ada.firstName, 'Ada');
  assert.deepEqual(ada.properties, { plan: 'free', color: 'red', size: 'XL' });
  assert.equal(await readers.count(), 3);
});

test('with onConflict=skip they stay as they are', async () => {
  const readers = await audience();
  await readers.import('email,plan\na@b.example,pro\n');
  const job = await readers.import('email,plan\na@b.example,free\nb@b.example,free\n', {
    onConflict: 'skip',
  });
  assert.deepEqual([job.created, job.updated, job.skipped], [1, 0, 1]);
  assert.equal((await readers.contact('a@b.example')).properties.plan, 'pro');
  const refused = await readers.send('email\n', { onConflict: 'replace' });
  assert.deepEqual([refused.status, refused.body.error.param], [400, 'onConflict']);
});

test('an import does not subscribe contacts again that have unsubscribed or left a topic', async () => {
  const readers = await audience();
  const topic = await newTopic('Offers');
  await readers.import(`email,unsubscribed,topics.${topic}\na@b.example,yes,no\n`);
  const job = await readers.import(`email,unsubscribed,topics.${topic}\na@b.example,no,yes\n`);
  assert.deepEqual([job.updated, job.skipped], [0, 1]);
  const contact = await readers.contact('a@b.example');
  assert.equal(contact.unsubscribed, true);
  assert.deepEqual(contact.topics, [{ id: topic, subscription: 'opt_out' }]);
});

test('a row that will not do is counted and told of, and the others are taken', async () => {
  const readers = await audience();
  const wide = Array.from({ length: 101 }, (_, index) => `p${index}`);
  const job = await readers.import(
    [
      `email,unsubscribed,${wide.join(',')}`,
      `a@b.example,no,1${','.repeat(100)}`,
      `=cmd|calc,no${','.repeat(101)}`,
      `b@b.example,perhaps${','.repeat(101)}`,
      'c@b.example,no',
      `d@b.example,no${',x'.repeat(101)}`,
      `e@b.example,no,${'x'.repeat(2_001)}${','.repeat(100)}`,
      `"f@b.example\n",no${','.repeat(101)}`,
      `,no,1${','.repeat(100)}`,
      '',
    ].join('\n'),
  );
  const { status, rows, created, failed } = job;
  assert.deepEqual(
    { status, rows, created, failed },
    { status: 'completed', rows: 8, created: 2, failed: 6 },
  );
  const lines = await errorsOf(job);
  assert.deepEqual(
    lines.map((line) => line.split(',').slice(0, 2)),
    [
      ['3', "'=cmd|calc"],
      ['4', 'b@b.example'],
      ['5', 'c@b.example'],
      ['6', 'd@b.example'],
      ['7', 'e@b.example'],
      ['10', ''],
    ],
  );
  const said = [
    /`email` must be one address/,
    /`unsubscribed` must be true, false/,
    /has 2 cells, and the heading line 103/,
    /100 properties; this one would have 101/,
    /`properties.p0` must be at most 2000 characters/,
    /`email` must be one address/,
  ];
  for (const [index, words] of said.entries()) assert.match(lines[index] ?? '', words);
  assert.equal(await readers.count(), 2);
});

const REFUSED: Record<string, [file: string | Buffer, words: RegExp]> = {
  'without an email column': ['name\nAda\n', /The heading line has no `email`/],
  'with a column that comes twice': ['email,First Name,firstname\n', /Columns 2 and 3 are both `firstname`/],
  'with a property that comes twice': ['email,plan,properties.plan\n', /Columns 2 and 3 are both/],
  'with a column that has no heading': ['email,,x\n', /Column 2 has no heading/],
  'with a property that is no property key': [
    'email,properties.Postal Code\n',
    /`properties.Postal Code` cannot be a property/,
  ],
  'with a topic that does not exist': ['email,topics.top_x\n', /`topics.top_x` is not the id of one of your/],
  'whose heading is long': [
    `email,properties.${'ä'.repeat(9_000)}\n`,
    /^`properties.ä{53}…` cannot be a property/,
  ],
  'with too many columns': [
    `email${',x'.repeat(605)}\n`,
    /The file has 606 columns; at most 605 are allowed/,
  ],
  'that is empty': ['\r\n\r\n', /The file is empty/],
  'whose line breaks were lost': ['email,citybob@example.com,Paris', /so it has no rows\. .* --data-binary/],
  'in damaged UTF-8': [
    Buffer.concat([Buffer.from('email,näme,straße\n'), Buffer.from([0xff, 0x0a])]),
    /must be UTF-8; byte 21 is not/,
  ],
  'with an octet that Windows-1252 does not have': [
    Buffer.from('email\nJos\x81\n', 'latin1'),
    /must be UTF-8; byte 10 is not/,
  ],
};

for (const [name, [file, words]] of Object.entries(REFUSED)) {
  test(`a file ${name} is refused at once`, async () => {
    const readers = await audience();
    const { status, body } = await readers.send(file);
    assert.equal(status, 400);
    assert.match(body.error.message, words);
    const { body: listed } = await open.request('GET', '/v1/imports');
    assert.ok(listed.data.every(({ audienceId }: { audienceId: string }) => audienceId !== readers.id));
  });
}

test('a fault further on ends the job in words, and what stood before it is taken', async () => {
  const readers = await audience();
  const job = await readers.import(`email\n${'x@b.example\n'.repeat(600)}"a@b.example"x\n`);
  assert.equal(job.status, 'failed');
  assert.match(job.error, /^Line 602: text follows a closing quote/);
  assert.deepEqual([job.rows, job.created, job.skipped], [600, 1, 599]);
  assert.ok(job.finishedAt);
});

test('no events are recorded for contacts of a file', async () => {
  const readers = await audience();
  const count = async () => (await open.app.db.read.selectFrom('events').selectAll().execute()).length;
  const eventsBefore = await count();
  await readers.import('email\na@b.example\n');
  assert.equal(await count(), eventsBefore);
});

test('an audience that is deleted meanwhile ends the job', async () => {
  const readers = await audience();
  const { body: sent } = await readers.send('email\na@b.example\n');
  assert.equal((await open.request('DELETE', `/v1/audiences/${readers.id}`)).status, 204);
  for (const job of await lease(open)) await runImport(open.app, contactImport, job, () => false);
  const { body: job } = await open.request('GET', `/v1/imports/${sent.id}`);
  assert.deepEqual([job.status, job.error, job.rows], ['failed', 'The audience was deleted', 0]);
});

test('an audience of another tenant, or of nobody, is not found', async () => {
  const other = await open.addTenant('other');
  const { body: theirs } = await open.request('POST', '/v1/audiences', {
    key: other.testKey,
    body: { name: 'Theirs' },
  });
  for (const id of [theirs.id, 'aud_01khq3z5vgxw1r8t6n2m4c9b7d', 'x']) {
    for (const what of ['imports', 'exports']) {
      const path = `/v1/audiences/${id}/contacts/${what}`;
      const { status, body } =
        what === 'imports' ? await sendCsv(open, path, 'email\n') : await open.request('POST', path);
      assert.deepEqual([status, body.error.message], [404, 'Audience not found']);
    }
  }
});

test('a property may have any legal name', async () => {
  const readers = await audience();
  await readers.import('email,__proto__,constructor\na@b.example,x,y\n');
  const [row] = await open.app.db.read
    .selectFrom('contacts')
    .select('properties')
    .where('audienceId', '=', readers.id as 'aud_')
    .execute();
  assert.equal(row?.properties, '{"__proto__":"x","constructor":"y"}');
});

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
