/**
 * Whatever comes in over HTTP, of any shape: an answer in the envelope that a program can read, never a 500, and never
 * a header line that the caller wrote. Requests are generated from fixed seeds.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { createControlServer } from '../src/control-socket.ts';
import { BODY_LIMIT_BYTES } from '../src/http/server.ts';
import { newId } from '../src/system/ids.ts';
import { createLog } from '../src/system/log.ts';
import { emailBody, headerLines } from './emails/fixtures.ts';
import { openTestApp, type TestApp } from './support/test-app.ts';

const SEED = 20_260_301;
const DEEP_LEVELS = 20_000;

let testApp: TestApp;
let admin: FastifyInstance;
/** What was logged as an error during the last request: a failure tells why. */
const logged: unknown[] = [];
const log = createLog('silent');
log.error = (...args: unknown[]) => void logged.push(args);
log.fatal = log.error;
before(async () => {
  const fetch = async () => ({ status: 204, headers: {}, body: Buffer.alloc(0), truncated: false });
  testApp = await openTestApp({ system: { log, fetch } });
  admin = await createControlServer(testApp.app);
  await admin.ready();
  for (const { url, body } of [EMAIL, DOMAIN, ENDPOINT]) items.set(url, await createItem(url, body));
});
after(async () => {
  await admin.close();
  await testApp.close();
});

type Api = 'public' | 'admin';
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Answer = { status: number; body: Problem; text: string };
type Problem = { error?: { type?: string; message?: string; param?: string; requestId?: string } };
type RawRequest = {
  method: Method;
  url: string;
  payload?: string | Buffer;
  headers?: Record<string, string>;
};

/** Sends, and holds the answer to what every answer owes its caller. */
async function ask(api: Api, { method, url, payload, headers = {} }: RawRequest): Promise<Answer> {
  const server = api === 'public' ? testApp.server : admin;
  logged.length = 0;
  const response = await server.inject({
    method,
    url: filledIn(url),
    headers: {
      ...(api === 'public' && { authorization: `Bearer ${testApp.testKey}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  });
  const status = response.statusCode;
  const text = response.body;
  const about = `${method} ${url.slice(0, 200)} ${String(payload).slice(0, 300)} -> ${status} ${text.slice(0, 300)}`;
  assert.ok(status < 500, `${about} ${String(JSON.stringify(logged, errorText)).slice(0, 2_000)}`);
  assert.match(String(response.headers['x-request-id']), /^req_/, about);
  const body = text === '' ? {} : (JSON.parse(text) as Problem);
  if (status >= 400) {
    assert.match(body.error?.type ?? '', /^[a-z_]+$/, about);
    assert.notEqual(body.error?.message ?? '', '', about);
    assert.equal(body.error?.requestId, response.headers['x-request-id'], about);
  } else {
    // A field of its own in what a test of an endpoint answers, and null as long as the post succeeds.
    assert.equal(body.error ?? undefined, undefined, about);
  }
  return { status, body, text };
}

function errorText(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.stack : value;
}

/** What routes with `{id}` are asked about: made by a POST to the URL before the `{id}`. */
type Item = { url: string; body: Record<string, unknown> };

const EMAIL: Item = { url: '/v1/emails', body: emailBody({ scheduledAt: inDays(30) }) };
const DOMAIN: Item = { url: '/v1/domains', body: { name: 'item.example' } };
const ENDPOINT: Item = {
  url: '/v1/webhooks',
  body: { url: 'https://item.example/', events: ['email.sent'] },
};

/** Ids, by the URL they were made at. */
const items = new Map<string, string>();

async function createItem(url: string, body: Record<string, unknown>): Promise<string> {
  const { text } = await ask('public', { method: 'POST', url, payload: JSON.stringify(body) });
  const { id } = JSON.parse(text) as { id: string };
  assert.match(id, /^[a-z]+_[0-9a-z]{26}$/, text);
  return id;
}

/** The item's id in the place of `{id}`. */
function filledIn(url: string): string {
  const [before = '', after] = url.split('/{id}');
  return after === undefined ? url : `${before}/${items.get(before)}${after}`;
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 24 * 3_600_000).toISOString();
}

type Route = {
  api: Api;
  method: Method;
  /** With `{id}`: of the item made there. */
  url: string;
  valid: Record<string, unknown>;
  /** `fields`: none of them is required. `body`: not even a body is. */
  mayLack?: 'fields' | 'body';
};

const ROUTES: readonly Route[] = [
  {
    api: 'public',
    method: 'POST',
    url: '/v1/emails',
    valid: emailBody({
      cc: ['c@rcpt.example'],
      html: '<p>',
      headers: { 'X-A': 'b' },
      attachments: [{ filename: 'a.txt', content: 'YQ==' }],
      tags: { a: 'b' },
      scheduledAt: inDays(1),
      variables: { a: 'b' },
    }),
  },
  {
    api: 'public',
    method: 'PATCH',
    url: '/v1/emails/{id}',
    valid: { scheduledAt: inDays(2) },
  },
  { api: 'public', method: 'POST', url: '/v1/domains', valid: { name: 'a.example', productType: 'api' } },
  {
    api: 'public',
    method: 'POST',
    url: '/v1/webhooks',
    valid: { url: 'https://a.example/', events: ['email.sent'], description: 'x' },
  },
  {
    api: 'public',
    method: 'PATCH',
    url: '/v1/webhooks/{id}',
    valid: { url: 'https://b.example/', events: ['email.queued'], description: 'y', status: 'enabled' },
    mayLack: 'fields',
  },
  {
    api: 'public',
    method: 'POST',
    url: '/v1/webhooks/{id}/test',
    valid: { type: 'email.bounced' },
    mayLack: 'body',
  },
  {
    api: 'public',
    method: 'PATCH',
    url: '/v1/domains/{id}',
    valid: {
      trackingSubdomain: 'links.item.example',
      openTracking: true,
      clickTracking: true,
      productType: 'both',
      region: 'sg',
    },
    mayLack: 'fields',
  },
  {
    api: 'public',
    method: 'POST',
    url: '/v1/topics',
    valid: { name: 'news', description: 'x', defaultOptIn: false },
  },
  {
    api: 'public',
    method: 'POST',
    url: '/v1/templates',
    valid: { name: 'welcome', subject: 'Hello {{name}}', html: '<p>{{name|you}}</p>', text: '{{name}}' },
  },
  { api: 'admin', method: 'POST', url: '/tenants', valid: { name: 'a', plan: 'unlimited' } },
  {
    api: 'admin',
    method: 'PUT',
    url: '/plans',
    valid: { name: 'p', monthlyEmails: 1, requestsPerSecond: 1 },
  },
  {
    api: 'admin',
    method: 'POST',
    url: '/keys',
    valid: {
      tenant: 'default',
      name: 'k',
      mode: 'test',
      permission: 'read_only',
      expiresAt: '2030-01-31T12:00:00Z',
    },
  },
];

type ItemRoute = { api: Api; method: Method; before: string; after: string; body?: object };

const ITEM_ROUTES: readonly ItemRoute[] = [
  { api: 'public', method: 'GET', before: '/v1/emails/', after: '' },
  { api: 'public', method: 'PATCH', before: '/v1/emails/', after: '', body: { scheduledAt: inDays(1) } },
  { api: 'public', method: 'POST', before: '/v1/emails/', after: '/cancel' },
  { api: 'public', method: 'GET', before: '/v1/domains/', after: '' },
  { api: 'public', method: 'PATCH', before: '/v1/domains/', after: '', body: {} },
  { api: 'public', method: 'POST', before: '/v1/domains/', after: '/verify' },
  { api: 'public', method: 'DELETE', before: '/v1/domains/', after: '' },
  { api: 'public', method: 'GET', before: '/v1/webhooks/', after: '' },
  { api: 'public', method: 'PATCH', before: '/v1/webhooks/', after: '', body: {} },
  { api: 'public', method: 'DELETE', before: '/v1/webhooks/', after: '' },
  { api: 'public', method: 'POST', before: '/v1/webhooks/', after: '/test' },
  { api: 'public', method: 'GET', before: '/v1/webhooks/', after: '/deliveries' },
  { api: 'public', method: 'GET', before: '/v1/topics/', after: '' },
  { api: 'public', method: 'GET', before: '/v1/templates/', after: '' },
  { api: 'admin', method: 'DELETE', before: '/keys/', after: '' },
];

const LISTS: readonly { api: Api; url: string }[] = [
  { api: 'public', url: '/v1/emails' },
  { api: 'public', url: '/v1/domains' },
  { api: 'public', url: '/v1/webhooks' },
  { api: 'public', url: '/v1/webhooks/{id}/deliveries' },
  { api: 'public', url: '/v1/topics' },
  { api: 'public', url: '/v1/templates' },
  { api: 'public', url: '/v1/openapi.json' },
  { api: 'public', url: '/healthz' },
  { api: 'admin', url: '/tenants' },
  { api: 'admin', url: '/plans' },
  { api: 'admin', url: '/keys' },
];

const HOSTILE: readonly string[] = [
  '',
  ' ',
  'a\r\nBcc: x@evil.example',
  'a\nb',
  'a\rb',
  'a\0b',
  '\0',
  '\u2028',
  'a\u2029b',
  '\u0085',
  '\ud800',
  'a\udc00b',
  '\ufeff',
  '\u202e\u200b',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '../../etc/passwd',
  '=?UTF-8?Q?a=0D=0ABcc:_x?=',
  '"a\r\nb" <a@b.example>',
  '{{constructor}}',
  'e\u0301'.repeat(500),
  'x'.repeat(100_000),
  '@'.repeat(100_000),
  '"'.repeat(100_000),
  'a.'.repeat(50_000),
  `${' '.repeat(100_000)}a`,
  `${'<'.repeat(50_000)}${'>'.repeat(50_000)}`,
];

const WRONG: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  [],
  {},
  [[]],
  [null],
  [{}],
  { length: 1 },
  { toString: 1 },
  ...HOSTILE,
  ...HOSTILE.map((text) => [text]),
];

/** 400 for the body of a route; accepted values may be accepted. */
function mayRefuse({ status }: Answer, about: string): void {
  assert.ok([200, 201, 400, 404, 409, 422].includes(status), `${status} ${about}`);
}

function run<Values extends unknown[]>(property: fc.IAsyncProperty<Values>, numRuns: number) {
  return fc.assert(property, { seed: SEED, numRuns });
}

for (const { api, method, url, valid, mayLack } of ROUTES) {
  test(`${method} ${url} bears any JSON`, async () => {
    await run(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (payload) => {
        const { status } = await ask(api, { method, url, payload });
        const isEnough = mayLack !== undefined && payload.startsWith('{');
        assert.equal(status, isEnough ? 200 : 400, payload);
      }),
      200,
    );
  });

  test(`${method} ${url} bears anything in any field, and names the field`, async () => {
    for (const field of Object.keys(valid)) {
      for (const value of WRONG) {
        const payload = JSON.stringify({ ...valid, [field]: value });
        const answer = await ask(api, { method, url, payload });
        mayRefuse(answer, `${field}: ${payload.slice(0, 200)}`);
        if (answer.status === 400) {
          const { param = '' } = answer.body.error ?? {};
          assert.equal(param.replace(/[[.].*/, ''), field, `${payload.slice(0, 200)} ${answer.text}`);
        }
      }
    }
  });

  test(`${method} ${url} bears several bad fields at once`, async () => {
    const anything = fc.oneof(fc.constantFrom(...WRONG), fc.anything({ maxDepth: 3 }));
    const fields = Object.fromEntries(
      Object.entries(valid).map(([field, value]) => [field, fc.oneof(fc.constant(value), anything)]),
    );
    const body = fc.record({ ...fields, extra: anything }, { requiredKeys: [] });
    await run(
      fc.asyncProperty(body, async (value) => {
        const payload = JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? `${item}` : item));
        mayRefuse(await ask(api, { method, url, payload }), payload.slice(0, 500));
      }),
      200,
    );
  });

  test(`${method} ${url} bears bodies that are no sound JSON, or too much of it`, async () => {
    const good = JSON.stringify(valid);
    const withField = (text: string) => `${good.slice(0, -1)},${text}}`;
    const refused: (string | Buffer)[] = [
      '{',
      '\0',
      'undefined',
      'NaN',
      `${good}${good}`,
      `${good.slice(0, -1)},}`,
      '"text"',
      '7',
      'null',
      '[]',
      withField('"__proto__":{"polluted":true}'),
      withField('"constructor":{"prototype":{"polluted":true}}'),
      '['.repeat(DEEP_LEVELS) + ']'.repeat(DEEP_LEVELS),
      withField(`"extra":${'{"a":'.repeat(DEEP_LEVELS)}1${'}'.repeat(DEEP_LEVELS)}`),
      withField(`"extra":${'['.repeat(DEEP_LEVELS)}${']'.repeat(DEEP_LEVELS)}`),
      Buffer.from(withField('"extra":"\xff\xfe"'), 'latin1'),
      Buffer.from([0xef, 0xbb, 0xbf, 0x80]),
      Buffer.from(good, 'utf16le'),
    ];
    for (const payload of refused) {
      for (const headers of [{}, { 'idempotency-key': 'bad' }]) {
        const { status } = await ask(api, { method, url, payload, headers });
        assert.equal(status, 400, String(payload).slice(0, 200));
      }
    }
    for (const payload of [undefined, '']) {
      const { status, body } = await ask(api, { method, url, ...(payload !== undefined && { payload }) });
      if (mayLack === 'body') assert.equal(status, 200);
      else assert.deepEqual([status, body.error?.message], [400, 'A JSON body is required']);
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    const odd = [
      withField(`${good.slice(1, -1)}`),
      withField('"extra":1e999'),
      withField(`"extra":${'9'.repeat(10_000)}`),
      `\ufeff${good}`,
    ];
    for (const payload of odd) {
      for (const headers of [{}, { 'idempotency-key': String(payload.length) }]) {
        mayRefuse(await ask(api, { method, url, payload, headers }), payload.slice(0, 200));
      }
    }
  });

  test(`${method} ${url} takes JSON alone`, async () => {
    const payload = JSON.stringify(valid);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'x', '']) {
      const { status, body } = await ask(api, { method, url, payload, headers: { 'content-type': type } });
      assert.deepEqual([status, body.error?.type], [415, 'unsupported_media_type'], type);
    }
  });

  test(`${method} ${url} refuses a body of 41 MiB with 413`, async () => {
    const payload = Buffer.alloc(41 * 1024 * 1024, ' ');
    const { status, body } = await ask(api, { method, url, payload });
    assert.ok(payload.length > BODY_LIMIT_BYTES);
    assert.deepEqual([status, body.error?.type], [413, 'payload_too_large']);
  });
}

test('no id, however it is written, is anything but not found', async () => {
  const time = testApp.app.clock.now();
  const ids = [
    ...(['em', 'dom', 'wh', 'tpl', 'top', 'key'] as const).map((prefix) => newId(prefix, time)),
    ...[
      '%00',
      'em_%00',
      '%2F',
      '..%2F..%2Fetc',
      '%2e%2e',
      '%C3%28',
      '%ED%A0%80',
      '%F0%9F%92%A9',
      '%0D%0AX-A:%20b',
    ],
    ...['__proto__', 'constructor', 'em_', '*', ':id', "'--", '%25', '%3F', '%23', 'a'.repeat(320)],
    ...['a'.repeat(321), 'a'.repeat(9_000), 'a%2F'.repeat(1_000), '%', '%zz', '%u0000', 'a/b', 'a//'],
  ];
  for (const { api, method, before, after, body } of ITEM_ROUTES) {
    const payload = body && JSON.stringify(body);
    for (const id of ids) {
      const url = `${before}${id}${after}`;
      const { status } = await ask(api, { method, url, ...(payload !== undefined && { payload }) });
      assert.ok([400, 404].includes(status), `${method} ${before}${id.slice(0, 50)}${after}: ${status}`);
    }
  }
  await run(
    fc.asyncProperty(
      fc.constantFrom(...ITEM_ROUTES),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).filter((text) => !/^\.\.?$/.test(text)),
      async ({ api, method, before, after, body }, text) => {
        const url = `${before}${encodeURIComponent(text)}${after}`;
        const { status } = await ask(api, { method, url, ...(body && { payload: JSON.stringify(body) }) });
        assert.ok([400, 404].includes(status), `${status}`);
      },
    ),
    300,
  );
});

test('a query string may be anything', async () => {
  const names = [
    'limit',
    'startingAfter',
    'endingBefore',
    'status',
    'from',
    'to',
    'tag',
    'recipientStatus',
    'tenant',
    'x',
    '__proto__',
  ];
  const fixed = [
    ...['', '&', '&&=', '=', '%', '%zz', '?', '%00', '__proto__=1', 'constructor[prototype]=1', '#'],
    ...['limit', 'limit=', 'limit=%00', 'limit[]=1', 'from=%00', 'from=%C3%28', 'to=%ED%A0%80', 'tenant=%00'],
    ...names.flatMap((name) => [`${name}=a&${name}=b`, `${name}=${'x'.repeat(9_000)}`, `${name}=%0D%0A`]),
    'x=1&'.repeat(5_000),
  ];
  for (const { api, url } of LISTS) {
    for (const query of fixed) {
      const { status } = await ask(api, { method: 'GET', url: `${url}?${query}` });
      assert.ok([200, 400, 404].includes(status), `${url}?${query.slice(0, 80)}: ${status}`);
    }
  }
  const pair = fc.tuple(fc.constantFrom(...names), fc.string({ unit: 'binary', maxLength: 40 }));
  await run(
    fc.asyncProperty(
      fc.constantFrom(...LISTS),
      fc.array(pair, { maxLength: 5 }),
      async ({ api, url }, pairs) => {
        const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
        const { status } = await ask(api, { method: 'GET', url: `${url}?${query}` });
        assert.ok([200, 400, 404].includes(status), `${status}`);
      },
    ),
    300,
  );
});

test('a path nobody serves is not found, a method not served there is said to be so', async () => {
  for (const url of [
    '/',
    '/v1',
    '/v1/',
    '/v2/emails',
    '/v1/emails/a/b',
    '//v1/emails',
    '/v1/%65mails%00',
    '/%',
    '/*',
  ]) {
    const { status } = await ask('public', { method: 'GET', url });
    assert.ok([400, 404].includes(status), `${url}: ${status}`);
  }
  for (const url of ['/v1/emails', '/v1/emails/em_1', '/v1/webhooks/wh_1']) {
    const { status, body } = await ask('public', { method: 'PUT', url, payload: '{}' });
    assert.deepEqual([status, body.error?.type], [405, 'method_not_allowed'], url);
  }
});

test('an Authorization header may be anything', async () => {
  const values = [
    '',
    ' ',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'Bearer a b',
    `Bearer ${'x'.repeat(9_000)}`,
    '\xff\xfe',
  ];
  for (const authorization of [
    ...values,
    `bearer ${testApp.testKey}x`,
    `Bearer ${testApp.liveKey.slice(0, -1)}!`,
  ]) {
    const { status } = await ask('public', { method: 'GET', url: '/v1/emails', headers: { authorization } });
    assert.equal(status, 401, authorization.slice(0, 40));
  }
});

test('an Idempotency-Key may be anything', async () => {
  const payload = JSON.stringify(emailBody());
  await run(
    fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
      const headers = { 'idempotency-key': text.replace(/[^\t -~]/g, '') };
      const { status } = await ask('public', { method: 'POST', url: '/v1/emails', payload, headers });
      assert.ok([200, 400].includes(status));
    }),
    100,
  );
});

/** In the order they are written (RFC 5322 3.6). */
const FIELDS = ['From', 'To', 'Cc', 'Reply-To', 'Subject', 'Message-ID', 'MIME-Version', 'Content-Type'];

test('no subject and no display name adds a line to the header', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom(...HOSTILE),
    fc
      .array(
        fc.constantFrom(
          '\r',
          '\n',
          '\0',
          '\u2028',
          ' ',
          'a',
          'Bcc: x@evil.example',
          '=?',
          '?=',
          ':',
          '"',
          '\\',
        ),
        {
          maxLength: 12,
        },
      )
      .map((parts) => parts.join('')),
  );
  let accepted = 0;
  await run(
    fc.asyncProperty(hostile, hostile, hostile, async (subject, name, other) => {
      const quoted = `"${name.replace(/["\\]/g, '\\$&')}" <a@rcpt.example>`;
      const raw = `${other} <b@rcpt.example>`;
      const body = emailBody({ subject: `s${subject}`, to: [quoted], cc: [raw], replyTo: quoted });
      let answer = await ask('public', { method: 'POST', url: '/v1/emails', payload: JSON.stringify(body) });
      if (answer.status === 400) {
        const plainer = emailBody({
          subject: `s${subject}`,
          to: 'a@b.example',
          cc: 'c@b.example',
          replyTo: 'a@b.example',
        });
        answer = await ask('public', { method: 'POST', url: '/v1/emails', payload: JSON.stringify(plainer) });
      }
      if (answer.status !== 200) return;
      accepted++;
      const lines = await headerLines(testApp.app, (JSON.parse(answer.text) as { id: string }).id);
      const names = lines.map((line) => line.slice(0, line.indexOf(':')));
      assert.deepEqual(names, [...FIELDS, 'Content-Transfer-Encoding'], lines.join('\n'));
      assert.ok(
        lines.every((line) => /^[\t -~]*$/.test(line)),
        'ASCII alone, and no bare CR or LF',
      );
    }),
    300,
  );
  assert.ok(accepted > 50, `${accepted} were accepted`);
});

test('what is not HTTP at all, or has too large a head, is answered in the envelope', async () => {
  await testApp.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = testApp.server.server.address() as AddressInfo;
  const attempts: [string, string][] = [
    ['EHLO evil.example\r\n\r\n', '400'],
    ['GET / HTTP/1.1\r\nA: b\0c\r\nHost: x\r\n\r\n', '400'],
    [`GET /v1/emails?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, '431'],
  ];
  for (const [text, status] of attempts) {
    const socket = connect(port, '127.0.0.1');
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.on('error', () => {});
    socket.write(text);
    await once(socket, 'close');
    const [head = '', body = ''] = Buffer.concat(parts).toString().split('\r\n\r\n');
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `));
    const { error } = JSON.parse(body) as Problem;
    assert.equal(error?.type, 'validation_error');
    assert.match(head, new RegExp(`^X-Request-Id: ${error?.requestId}$`, 'm'));
  }
});
