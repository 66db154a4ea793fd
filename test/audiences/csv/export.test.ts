import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { contactExport, MAX_PROPERTY_COLUMNS } from '../../../src/audiences/csv/export.ts';
import type { Db } from '../../../src/db/database.ts';
import { newId } from '../../../src/system/ids.ts';
import { insertTopic } from '../../../src/topics/store.ts';
import { exportCsv, importCsv, leaseExportsOf, newAudience, runExport } from '../../imports/jobs.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { openTestApp } from '../../support/test-app.ts';

const open = await openTestApp();
after(() => open.close());

async function addContact(audienceId: string, body: object): Promise<void> {
  const { status, body: answer } = await open.request('POST', `/v1/audiences/${audienceId}/contacts`, {
    body,
  });
  assert.equal(status, 201, JSON.stringify(answer));
}

const pathOf = (audienceId: string, what: string) => `/v1/audiences/${audienceId}/contacts/${what}`;

test('an export has a column for each property and each topic that a contact has', async () => {
  const audienceId = await newAudience(open);
  const { body: topic } = await open.request('POST', '/v1/topics', { body: { name: 'News' } });
  const { body: gone } = await open.request('POST', '/v1/topics', { body: { name: 'Gone' } });
  const topics = [topic, gone].map(({ id }) => ({ id, subscription: 'opt_out' }));
  await addContact(audienceId, {
    email: 'a@b.example',
    firstName: 'A, "B"',
    properties: { plan: 'pro', seats: 3 },
  });
  await addContact(audienceId, { email: '+b@b.example', lastName: '=1+1', unsubscribed: true, topics });
  await addContact(audienceId, {
    email: 'c@b.example',
    properties: { trial: false, score: -5, text: 'true' },
  });
  await open.request('DELETE', `/v1/topics/${gone.id}`);
  const { job, file } = await exportCsv(open, pathOf(audienceId, 'exports'));
  const [headings, ...lines] = file.split('\r\n');
  assert.equal(
    headings,
    `email,firstName,lastName,unsubscribed,pending,topics.${topic.id},` +
      'properties.plan,properties.score,properties.seats,properties.text,properties.trial',
  );
  assert.deepEqual(lines.sort(), [
    '',
    "'+b@b.example,,'=1+1,true,false,false,,,,,",
    'a@b.example,"A, ""B""",,false,false,,pro,,3,,',
    "c@b.example,,,false,false,,,-5,,'true,false",
  ]);
  assert.deepEqual([job.status, job.rows, job.sizeBytes], ['completed', 3, Buffer.byteLength(file)]);
});

test('only some contacts are exported when only those were asked for', async () => {
  const audienceId = await newAudience(open);
  const file = [
    'email,plan,unsubscribed',
    'a@b.example,pro,no',
    'b@b.example,pro,yes',
    'c@b.example,free,yes',
  ];
  await importCsv(open, pathOf(audienceId, 'imports'), `${file.join('\n')}\n`);
  const filter = { op: 'and', rules: [{ field: 'properties.plan', cmp: 'eq', value: 'pro' }] };
  const { body: segment } = await open.request('POST', '/v1/segments', {
    body: { name: 'Pro', audienceId, filter },
  });
  const emails = async (body: object) => {
    const { file: csv } = await exportCsv(open, pathOf(audienceId, 'exports'), body);
    return csv
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[0])
      .sort();
  };
  assert.deepEqual(await emails({}), ['a@b.example', 'b@b.example', 'c@b.example']);
  assert.deepEqual(await emails({ unsubscribed: true }), ['b@b.example', 'c@b.example']);
  assert.deepEqual(await emails({ segmentId: segment.id }), ['a@b.example', 'b@b.example']);
  assert.deepEqual(await emails({ segmentId: segment.id, unsubscribed: true }), ['b@b.example']);
});

test('a segment of another audience, or of nobody, is refused by name', async () => {
  const audienceId = await newAudience(open);
  const elsewhere = await newAudience(open);
  const filter = { op: 'and', rules: [{ field: 'email', cmp: 'exists' }] };
  const { body: segment } = await open.request('POST', '/v1/segments', {
    body: { name: 'Elsewhere', audienceId: elsewhere, filter },
  });
  const answers = [];
  for (const segmentId of [segment.id, 'seg_01khq3z5vgxw1r8t6n2m4c9b7d', 'x']) {
    const { status, body } = await open.request('POST', pathOf(audienceId, 'exports'), {
      body: { segmentId },
    });
    answers.push([status, body.error.param, body.error.message]);
  }
  assert.deepEqual(answers[0]?.slice(0, 2), [400, 'segmentId']);
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
});

const name = fc.option(fc.string({ unit: anyCharacter, maxLength: 30 }).filter(isPlain));
const value = fc.oneof(
  fc.boolean(),
  fc.string({ unit: anyCharacter, maxLength: 30 }).filter(isPlain),
  fc.constantFrom('', 'true', "'true", '=1', "'=1", '-5', "'", '"', '1e3', ' x '),
);
const key = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_]{1,8}$/),
  fc.constantFrom('__proto__', 'email', 'topics'),
);
const contact = fc.record({
  localPart: fc.stringMatching(/^[a-z0-9+=_'-]{1,10}$/),
  firstName: name,
  lastName: name,
  unsubscribed: fc.boolean(),
  properties: fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true }),
  choices: fc.array(fc.option(fc.boolean()), { minLength: 2, maxLength: 2 }),
});

/** What a contact may hold (fields.ts). */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !/[^\P{Cc}\u0080-\u009f]/u.test(text);
}

test('an exported file can be imported without any change', async () => {
  const topicIds = [0, 1].map(() => newId('top', open.app.clock.now()));
  for (const id of topicIds) {
    const texts = { name: id, description: null };
    const row = {
      id,
      tenantId: open.tenantId,
      ...texts,
      defaultOptIn: 1,
      createdAt: 0,
      updatedAt: 0,
    } as const;
    await open.app.db.commit(insertTopic, row);
  }
  const contacts = fc.uniqueArray(contact, {
    minLength: 1,
    maxLength: 6,
    selector: ({ localPart }) => localPart,
  });
  await fc.assert(
    fc.asyncProperty(contacts, async (given) => {
      const audienceId = await newAudience(open);
      for (const { localPart, choices, ...fields } of given) {
        const topics = choices.flatMap((optIn, index) =>
          optIn === null ? [] : [{ id: topicIds[index], subscription: optIn ? 'opt_in' : 'opt_out' }],
        );
        await addContact(audienceId, { email: `${localPart}@b.example`, ...fields, topics });
      }
      const { job, file } = await exportCsv(open, pathOf(audienceId, 'exports'));
      assert.equal(job.rows, given.length);
      const again = await newAudience(open);
      const imported = await importCsv(open, pathOf(again, 'imports'), file);
      assert.deepEqual([imported.status, imported.created], ['completed', given.length], imported.error);
      assert.deepEqual(await contactsOf(again), await contactsOf(audienceId));
      await open.request('DELETE', `/v1/audiences/${again}`);
      await open.request('DELETE', `/v1/audiences/${audienceId}`);
    }),
    { numRuns: 25 },
  );
});

async function contactsOf(audienceId: string) {
  const rows = await open.app.db.read
    .selectFrom('contacts')
    .select(['email', 'firstName', 'lastName', 'unsubscribed', 'properties', 'topics'])
    .where('audienceId', '=', audienceId as 'aud_')
    .orderBy('address')
    .execute();
  return rows.map(({ properties, topics, ...row }) => ({
    ...row,
    properties: Object.entries(JSON.parse(properties)).sort(),
    topics: Object.entries(JSON.parse(topics)).sort(),
  }));
}

test('more contacts than one slice, and slices in which nobody is, are all in the file', async () => {
  const audienceId = await newAudience(open);
  const rows = Array.from(
    { length: 2_000 },
    (_, index) => `r${index}@b.example,${index % 500 === 499 ? 'rare' : 'common'}\n`,
  );
  await importCsv(open, pathOf(audienceId, 'imports'), `email,kind\n${rows.join('')}`);
  const { job, file } = await exportCsv(open, pathOf(audienceId, 'exports'));
  assert.equal(job.rows, 2_000);
  assert.equal(new Set(file.split('\r\n')).size, 2_002);
  const filter = { op: 'and', rules: [{ field: 'properties.kind', cmp: 'eq', value: 'rare' }] };
  const { body: segment } = await open.request('POST', '/v1/segments', {
    body: { name: 'Rare', audienceId, filter },
  });
  const few = await exportCsv(open, pathOf(audienceId, 'exports'), { segmentId: segment.id });
  assert.equal(few.job.rows, 4);
});

test('an export scans a bounded number of contacts of a segment in one slice, because other reads wait for the thread', async () => {
  const audienceId = await newAudience(open);
  const rows = Array.from({ length: 1_000 }, (_, index) => `r${index}@b.example,common\n`).join('');
  await importCsv(open, pathOf(audienceId, 'imports'), `email,kind\n${rows}`);
  const filter = { op: 'and', rules: [{ field: 'properties.kind', cmp: 'eq', value: 'rare' }] };
  const body = { name: 'Rare', audienceId, filter };
  const { body: segment } = await open.request('POST', '/v1/segments', { body });
  await open.request('POST', pathOf(audienceId, 'exports'), { body: { segmentId: segment.id } });
  const [job] = await leaseExportsOf(open);
  assert.ok(job);
  const slices: string[] = [];
  const query: Db['query'] = (read, input) => {
    slices.push(read.name);
    return open.app.db.query(read, input);
  };
  const db = { ...open.app.db, query };
  assert.equal(await runExport({ ...open.app, db }, contactExport, job, () => false), 'completed');
  for (const name of ['contacts.exportKeys', 'contacts.exportSlice']) {
    const count = slices.filter((slice) => slice === name).length;
    assert.ok(count >= 10, `${name}: ${count}`);
  }
});

test('contacts as large as they may be come to the main thread a few megabytes at a time', async () => {
  const audienceId = await newAudience(open);
  const columns = Array.from({ length: 16 }, (_, index) => `p${index}`);
  const cells = columns.map(() => 'y'.repeat(1990)).join(',');
  const rows = Array.from({ length: 400 }, (_, index) => `r${index}@b.example,${cells}\n`);
  await importCsv(open, pathOf(audienceId, 'imports'), `email,${columns}\n${rows.join('')}`);
  await open.request('POST', pathOf(audienceId, 'exports'));
  const [job] = await leaseExportsOf(open);
  assert.ok(job);
  let longest = 0;
  const query: Db['query'] = async (read, input) => {
    const answer = await open.app.db.query(read, input);
    longest = Math.max(longest, JSON.stringify(answer).length);
    return answer;
  };
  const db = { ...open.app.db, query };
  assert.equal(await runExport({ ...open.app, db }, contactExport, job, () => false), 'completed');
  assert.ok(longest < 8 * 1024 * 1024, String(longest));
});

test('contacts with more properties than a file has columns are told so', async () => {
  const audienceId = await newAudience(open);
  for (let from = 0; from <= MAX_PROPERTY_COLUMNS; from += 100) {
    const keys = Array.from({ length: 100 }, (_, index) => [`p${from + index}`, '1']);
    await addContact(audienceId, { email: `a${from}@b.example`, properties: Object.fromEntries(keys) });
  }
  const { job } = await exportCsv(open, pathOf(audienceId, 'exports'));
  assert.deepEqual([job.status, job.sizeBytes], ['failed', null]);
  assert.match(job.error, /more than 500 different properties; export them by segments/);
});

test('an audience that is deleted meanwhile ends the export without a file', async () => {
  const audienceId = await newAudience(open);
  await addContact(audienceId, { email: 'a@b.example' });
  const { body: asked } = await open.request('POST', pathOf(audienceId, 'exports'));
  await open.request('DELETE', `/v1/audiences/${audienceId}`);
  for (const job of await leaseExportsOf(open)) await runExport(open.app, contactExport, job, () => false);
  const { body: job } = await open.request('GET', `/v1/exports/${asked.id}`);
  assert.deepEqual([job.status, job.error], ['failed', 'The audience was deleted']);
});
