import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { contactImport } from '../../../src/audiences/csv/import.ts';
import { importCsv, lease, newAudience, runImport, sendCsv } from '../../imports/jobs.ts';
import { openTestApp, type TestApp } from '../../support/test-app.ts';

let open: TestApp;
before(async () => {
  open = await openTestApp();
});
after(() => open.close());

async function audience() {
  const id = await newAudience(open);
  const path = `/v1/audiences/${id}/contacts`;
  return {
    id,
    path,
    import: (file: string | Buffer, query = '') => importCsv(open, `${path}/imports${query}`, file),
    send: (file: string | Buffer) => sendCsv(open, `${path}/imports`, file),
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
  const job = await readers.import('email,plan\na@b.example,free\nb@b.example,free\n', '?onConflict=skip');
  assert.deepEqual([job.created, job.updated, job.skipped], [1, 0, 1]);
  assert.equal((await readers.contact('a@b.example')).properties.plan, 'pro');
  const refused = await sendCsv(open, `${readers.path}/imports?onConflict=replace`, 'email\n');
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
