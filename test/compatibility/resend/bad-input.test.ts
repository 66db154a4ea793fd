/** Values that no client of Resend sends: each is refused in its shape, and none is an error of the server. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CALLS } from '../../../src/compatibility/resend/api.ts';
import { openTestApp, type TestMethod } from '../../support/test-app.ts';

const PREFIX = '/compat/resend';
const testApp = await openTestApp();
after(() => testApp.close());

const create = async (path: string, body: object): Promise<string> =>
  (await testApp.request('POST', PREFIX + path, { body })).body.id;
const html = '<p>{{{RESEND_UNSUBSCRIBE_URL}}}</p>';
const segment = await create('/segments', { name: 'Some' });
const from = 'a@sandbox.mx.postrider.example';
/** Things that exist, so that calls reach what comes after the look-up. */
const IDS: Readonly<Record<string, string>> = {
  '/contacts/:id': await create('/contacts', { email: 'a@reader.example' }),
  '/segments/:id': segment,
  '/topics/:id': await create('/topics', { name: 'News', default_subscription: 'opt_in' }),
  '/templates/:id': await create('/templates', { name: 'n', html }),
  '/broadcasts/:id': await create('/broadcasts', { segment_id: segment, from, subject: 's', html }),
};
const VALUES = [null, 7, 'x', [], { id: 7 }, [7], [{ id: 'x', key: 'x', fallback_value: {} }]];
/** Fields of all bodies. */
const FIELDS = [
  ...['name', 'email', 'first_name', 'last_name', 'unsubscribed', 'properties', 'segments', 'topics'],
  ...['segment_id', 'audience_id', 'from', 'subject', 'reply_to', 'preview_text', 'html', 'text'],
  ...['topic_id', 'send', 'scheduled_at', 'alias', 'variables', 'default_subscription', 'description'],
  ...['emails', 'ids', 'filter', 'to', 'template', 'tags', 'attachments', 'endpoint', 'events'],
];
const VALID = { name: 'n', email: 'b@reader.example', from, subject: 's', html, segment_id: segment };

/** Returns the path of a call, with things that exist. */
function pathOf(path: string): string {
  const [one] = Object.keys(IDS).filter((known) => path.startsWith(known));
  const named = one === undefined ? path : path.replace(one, one.replace(':id', IDS[one] ?? ''));
  return named.replace(':segmentId', segment).replace(':groupId', segment).replaceAll(/:\w+/g, 'unknown');
}

async function check(method: TestMethod, path: string, options: object): Promise<void> {
  const { status, body } = await testApp.request(method, PREFIX + path, options);
  const what = `${method} ${path} ${JSON.stringify(options).slice(0, 200)}: ${JSON.stringify(body).slice(0, 200)}`;
  assert.ok(status < 500, what);
  if (status >= 400) assert.deepEqual(Object.keys(body), ['statusCode', 'name', 'message'], what);
}

test('a body that is none of the call, and each field with each wrong value', async () => {
  for (const { at } of CALLS) {
    const [method = '', path = ''] = at.split(' ');
    if (method === 'GET' || method === 'DELETE') continue;
    for (const value of VALUES) {
      const all = Object.fromEntries(FIELDS.map((field) => [field, value]));
      for (const body of [value, all, { ...all, ...VALID }])
        await check(method as TestMethod, pathOf(path), { body });
    }
  }
});

test('each field of a call alone, beside fields that are right', async () => {
  for (const path of ['/contacts', '/broadcasts', '/templates', '/topics', '/segments'])
    for (const field of FIELDS)
      for (const value of [7, [7], { id: 7 }])
        await check('POST', path, { body: { ...VALID, [field]: value } });
});

test('ids and queries that are none', async () => {
  const odd = ['%00', '..%2f..', '%2e%2e', 'x%2Fy', 'a@b', '%F0%9F%98%80', 'x'.repeat(300)];
  for (const { at } of CALLS) {
    const [method = '', path = ''] = at.split(' ');
    if (method !== 'GET' && method !== 'DELETE') continue;
    if (path.includes(':'))
      for (const id of odd) await check(method as TestMethod, path.replaceAll(/:\w+/g, id), {});
    if (method !== 'GET') continue;
    for (const query of [
      'limit=x',
      'limit=0',
      'after=x',
      'before=%00',
      'after=a&before=b',
      'type=x',
      'segment_id=x',
      'limit=1&limit=2',
    ])
      await check('GET', `${pathOf(path)}?${query}`, {});
  }
});
