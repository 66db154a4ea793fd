/** Whatever stands in any field of a send request: an answer in the envelope, and never a line that the caller wrote. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../support/any-character.ts';
import { openSpool } from '../support/spool.ts';
import { emailBody, rawMessage } from './fixtures.ts';

const SEED = 20_261_121;

const spool = await openSpool();
const template = { name: 'T', subject: 'S', html: '<p>{{name}} {{__proto__}} {{constructor}}</p>' };
const templateId = (await spool.request('POST', '/v1/templates', { body: template })).body.id;
const topicId = (await spool.request('POST', '/v1/topics', { body: { name: 'T' } })).body.id;
after(() => spool.close());

const NASTY = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.constantFrom(
    ...[
      '',
      ' ',
      '\0',
      'a\r\nBcc: x@evil.example',
      'a\n',
      '\r',
      '\u2028',
      '\ud800',
      'a\udfff',
      '\ufeff',
      '__proto__',
    ],
    ...[
      'constructor',
      'toString',
      '{{name}}',
      '{{{__proto__}}}',
      '{{a|{{b}}}}',
      '=?utf-8?q?=0D=0A?=',
      '"',
      '<>',
      ':',
    ],
    ...[
      '../../x',
      'https://127.0.0.1/',
      'https://[::1]/',
      'file:///etc/passwd',
      '9'.repeat(400),
      'é'.repeat(300),
    ],
  ),
);
const ANYTHING = fc.oneof(
  NASTY,
  fc.constantFrom(null, true, 0, -1, 1e308, [], {}, [[]], [null]),
  fc.anything({ maxDepth: 2 }),
);
const key = fc
  .oneof(NASTY, fc.constantFrom('a', 'X-A', 'From', 'name'))
  .filter((text) => text !== '__proto__');
const strings = fc.dictionary(key, fc.oneof(NASTY, fc.constantFrom('b', 'aGVsbG8=')), { maxKeys: 3 });
const mixed = fc.dictionary(key, ANYTHING, { maxKeys: 3 });
const attachment = fc.record(
  {
    filename: fc.oneof(NASTY, fc.constant('a.txt')),
    content: fc.oneof(
      NASTY,
      fc.constant('aGVsbG8='),
      fc.constant('A'.repeat(70_000)),
      fc.constant('.'.repeat(70_000)),
    ),
    path: NASTY,
    url: NASTY,
    contentType: fc.oneof(NASTY, fc.constant('text/plain')),
    contentId: fc.oneof(NASTY, fc.constant('logo')),
    content_type: NASTY,
  },
  { requiredKeys: ['filename', 'content'] },
);

/** Mostly right, so that many a body comes far enough to be sent. */
const rarely = <Value>(usual: fc.Arbitrary<Value>, odd: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: usual as fc.Arbitrary<unknown>, weight: 12 }, { arbitrary: odd, weight: 1 });
const rich = fc
  .string({ unit: anyCharacter, maxLength: 20 })
  .map((text) => text.replace(/[\p{Cc}\p{Cs}]/gu, ''));
const plain = fc.constantFrom('X-A', 'x_b', 'name');
const files = fc.array(
  fc.record(
    {
      filename: rich.map((text) => `${text}\r\n/../\u2028a`),
      content: fc.constantFrom('', 'aGVsbG8=', 'A'.repeat(70_000)),
      contentType: fc.constantFrom('text/plain; charset="a\\"b"', 'message/rfc822', 'a/b; name="x"'),
    },
    { requiredKeys: ['filename', 'content'] },
  ),
  { maxLength: 2 },
);
const said = fc.oneof(
  fc.record({ html: fc.constantFrom('<p>{{name}}</p>', '', '<b>'.repeat(500)) }),
  fc.record({ text: fc.constantFrom('Hi', 'Hi {{{name|you}}}'), templateId: fc.constant('TEMPLATE') }),
  fc.record({ html: rich, text: rich.map((text) => text.replaceAll('\0', '')) }),
);
const more = fc.record(
  {
    subject: rarely(
      rich.map((text) => `s${text}`),
      ANYTHING,
    ),
    headers: rarely(fc.dictionary(plain, fc.stringMatching(/^[ -~]{0,90}$/)), fc.oneof(strings, mixed)),
    attachments: rarely(files, fc.oneof(fc.array(attachment, { maxLength: 2 }), ANYTHING)),
    tags: rarely(
      fc.dictionary(
        plain,
        rich.map((text) => `t${text}`),
      ),
      fc.oneof(strings, mixed),
    ),
    variables: rarely(
      fc.dictionary(plain, fc.oneof(rich, fc.constantFrom(1, true, null, 'a\r\nb: c'))),
      fc.oneof(strings, mixed),
    ),
    scheduledAt: rarely(fc.constant('2026-06-01T00:00:00Z'), ANYTHING),
    topicId: rarely(fc.constant('TOPIC'), ANYTHING),
    type: rarely(fc.constantFrom('transactional', 'broadcast'), ANYTHING),
  },
  { requiredKeys: [] },
);
const wrong = fc.record({ html: ANYTHING, text: ANYTHING, templateId: ANYTHING }, { requiredKeys: [] });
const body = fc
  .tuple(rarely(said, wrong), more)
  .map(([first, second]) => ({ ...(first as object), ...second }));

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

const FIELD_LINE = /^(?:[!-9;-~]+: ?[\t -~]*|[\t ][\t -~]*)$/;

test('no body gives anything but 200, 400 or 404, and what is sent is a sound message', async () => {
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (fields, isKeyed) => {
      const payload = asText(emailBody({ text: undefined, ...fields }));
      const { status, answer, about } = await post(payload, isKeyed ? { 'idempotency-key': `${sent}` } : {});
      assert.ok([200, 400, 409].includes(status), about);
      if (status !== 200 || !answer.id) return assert.match(answer.error?.type ?? '', /^[a-z_]+$/, about);
      sent++;
      const raw = await rawMessage(spool.app, answer.id);
      const header = raw.slice(0, raw.indexOf('\r\n\r\n')).split('\r\n');
      assert.ok(
        header.every((line) => FIELD_LINE.test(line) && line.length <= 998),
        header.join('\n'),
      );
      const names = header
        .filter((line) => !/^[\t ]/.test(line))
        .map((line) => line.replace(/:.*/, '').toLowerCase());
      for (const name of ['from', 'to', 'subject', 'message-id', 'mime-version', 'content-type']) {
        assert.equal(names.filter((other) => other === name).length, 1, `${name}: ${header.join('\n')}`);
      }
      assert.ok(!names.includes('bcc') && !names.includes('date'), header.join('\n'));
      const shown = await spool.request('GET', `/v1/emails/${answer.id}`);
      assert.equal(shown.status, 200, JSON.stringify(shown.body).slice(0, 500));
    }),
    { seed: SEED, numRuns: 80 },
  );
  assert.ok(sent >= 40, `${sent} were sent`);
});

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
