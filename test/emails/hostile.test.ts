/** Whatever stands in any field of a send request: an answer in the envelope, and never a line that the caller wrote. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSpool } from '../support/spool.ts';
import { emailBody } from './fixtures.ts';

const spool = await openSpool();
const template = { name: 'T', subject: 'S', html: '<p>{{name}} {{__proto__}} {{constructor}}</p>' };
const templateId = (await spool.request('POST', '/v1/templates', { body: template })).body.id;
const topicId = (await spool.request('POST', '/v1/topics', { body: { name: 'T' } })).body.id;
after(() => spool.close());

const asText = (value: unknown) =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? `${item}` : item))
    .replaceAll('"TEMPLATE"', JSON.stringify(templateId))
    .replaceAll('"TOPIC"', JSON.stringify(topicId));

async function post(payload: string, headers: Record<string, string> = {}) {
  const response = await spool.inject({
    method: 'POST',
    url: '/v1/emails',
    headers: { authorization: `Bearer ${spool.testKey}`, 'content-type': 'application/json', ...headers },
    payload,
  });
  const about = `${payload.slice(0, 600)} -> ${response.statusCode} ${response.body.slice(0, 300)}`;
  const answer = JSON.parse(response.body) as { id?: string; error?: { type: string; param?: string } };
  return { status: response.statusCode, answer, about };
}

test('__proto__ and constructor.prototype are refused anywhere in a body, and pollute nothing', async () => {
  const good = asText(emailBody());
  for (const field of ['headers', 'tags', 'variables', 'attachments']) {
    for (const bad of ['{"__proto__":{"polluted":"x"}}', '{"constructor":{"prototype":{"polluted":"x"}}}']) {
      const value = field === 'attachments' ? `[${bad}]` : bad;
      const { status, about } = await post(`${good.slice(0, -1)},"${field}":${value}}`);
      assert.equal(status, 400, about);
    }
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test('a key that stands twice is refused, everywhere', async () => {
  const good = asText(emailBody());
  const twices = [
    '"subject":"Second"',
    '"tags":{"a":"1","a":"2"}',
    '"headers":{"X-A":"1","X-A":"a\\r\\nBcc: x@evil.example"}',
  ];
  for (const twice of twices) {
    const { status, about } = await post(`${good.slice(0, -1)},${twice}}`);
    assert.equal(status, 400, about);
  }
});

test('a refused email names every wrong field at once, at most 20 of them', async () => {
  const { status, body } = await spool.request('POST', '/v1/emails', {
    body: {
      ...emailBody({ to: ['ann@example.com', 'nobody', 'bob@example.com', 'nowhere'], tag: 'x' }),
      ...{ from: 'me', subject: 'a\nb', headers: { From: 'x', 'X-Good': 'y', 'X-Bad': 'ü\n' } },
      ...{ scheduledAt: 'soon', tags: { campaign: '' } },
      attachments: [
        { filename: 'a.txt', content: 'aGk=', contentType: 'text' },
        { content: 'aGk=', contentId: '<' },
      ],
    },
  });
  assert.equal(status, 400);
  assert.equal(body.error.param, 'tag');
  assert.deepEqual(
    body.error.issues.map(({ path }: { path: string }) => path),
    [
      ...['tag', 'from', 'to[1]', 'to[3]', 'subject', 'headers.From', 'headers.X-Bad'],
      ...['attachments[0].contentType', 'attachments[1].filename', 'attachments[1].contentId'],
      ...['tags.campaign', 'scheduledAt'],
    ],
  );

  const many = await spool.request('POST', '/v1/emails', {
    body: emailBody({ to: Array.from({ length: 50 }, (_, index) => `nobody ${index}`) }),
  });
  assert.equal(many.body.error.issues.length, 20);
  assert.deepEqual(many.body.error.issues[19].path, 'to[19]');
});
