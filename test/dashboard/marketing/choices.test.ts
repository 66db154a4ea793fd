/** Forms that offer what a tenant may have thousands of: they offer the newest, and take the id or the name of any other. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { logIn } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const browser = await logIn(testApp);
const AT = '/t/default/test';
const LONG = '😀'.repeat(200);

async function post(path: string, body: object): Promise<string> {
  const answer = await testApp.request('POST', `/v1${path}`, { body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.id;
}

const oldAudience = await post('/audiences', { name: 'The first audience' });
const oldSegment = await post('/segments', {
  ...{ name: 'The first segment', audienceId: oldAudience },
  filter: { op: 'and', rules: [{ field: 'email', cmp: 'exists' }] },
});
const html = '<p>Hello</p>{{{unsubscribe_url}}}';
const oldTemplate = await post('/templates', { name: 'The first template', subject: 's', html });
for (let count = 0; count < 51; count++) {
  await post('/audiences', { name: `Audience ${count}` });
  await post('/segments', {
    ...{ name: LONG, audienceId: oldAudience },
    filter: { op: 'and', rules: [{ field: 'email', cmp: 'exists' }] },
  });
  await post('/templates', { name: LONG, subject: 's', html });
}
const FROM = 'news@sandbox.mx.postrider.example';

async function draftTo(target: string, templateId: string) {
  await browser.open(`${AT}/broadcasts/new`);
  await browser.submit('create', { from: FROM, subject: 'News', target, templateId });
  const id = /brd_\w{26}/.exec(browser.page.url)?.[0];
  return id === undefined ? undefined : (await testApp.request('GET', `/v1/broadcasts/${id}`)).body;
}

test('a broadcast goes to an audience or a segment that is not offered, by its name or its id', async () => {
  await browser.open(`${AT}/broadcasts/new`);
  assert.doesNotMatch(browser.page.html, /The first/);
  assert.match(browser.page.html, /<input id="create-target"[^>]* list="create-target-suggestions"/);
  assert.ok(Buffer.byteLength(browser.page.html) < 100_000);
  for (const [target, audienceId, segmentId] of [
    ['The first audience', oldAudience, null],
    [oldAudience, oldAudience, null],
    ['The first segment', oldAudience, oldSegment],
    [oldSegment, oldAudience, oldSegment],
  ] as const) {
    for (const template of ['The first template', oldTemplate]) {
      const draft = await draftTo(target, template);
      const { audienceId: stored, segmentId: storedSegment, templateId } = draft;
      assert.deepEqual([stored, storedSegment, templateId], [audienceId, segmentId, oldTemplate], target);
    }
  }
});

test('a name that nothing has is refused beside the button, and stays in the field', async () => {
  assert.equal(await draftTo('Nobody', ''), undefined);
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /Nothing has the id or the name &quot;Nobody&quot;|the name "Nobody"/);
  assert.match(browser.page.html, /value="Nobody"/);
});

test('labels of options are cut off, and no character in half', async () => {
  await browser.open(`${AT}/send-test`);
  const labels = [...browser.page.html.matchAll(/<option value="tpl_\w+">(.*?)<\/option>/g)].map(
    ([, label]) => label,
  );
  assert.ok(labels.length >= 50);
  assert.deepEqual(
    new Set(labels.filter((label) => label?.startsWith('😀'))),
    new Set([`${'😀'.repeat(40)}…`]),
  );
});

test('the rules of a segment name topics by their ids once all topics in each rule would be too much', async () => {
  const topics: string[] = [];
  for (let count = 0; count < 11; count++) topics.push(await post('/topics', { name: `Topic ${count}` }));
  const rules = topics.flatMap((id) => [
    { field: `topics.${id}`, cmp: 'eq', value: true },
    { field: `topics.${id}`, cmp: 'ne', value: true },
  ]);
  const filter = { op: 'or', rules };
  const id = await post('/segments', { name: 'Topics', audienceId: oldAudience, filter });
  await browser.open(`${AT}/segments/${id}`);
  assert.match(browser.page.html, /<datalist id="topics">/);
  assert.ok(Buffer.byteLength(browser.page.html) < 100_000);
  await browser.submit('save', { 'key.0': topics[1] ?? '' });
  const stored = (await testApp.request('GET', `/v1/segments/${id}`)).body;
  const [, ...others] = rules;
  assert.deepEqual(stored.filter.rules, [
    { field: `topics.${topics[1]}`, cmp: 'eq', value: true },
    ...others,
  ]);
  await browser.submit('save', { 'key.0': 'Topic 1' });
  assert.equal(browser.page.status, 422);
});
