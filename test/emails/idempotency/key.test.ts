import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createApiServer } from '../../../src/api.ts';
import { canonicalJson, hashRequest, IDEMPOTENCY_WINDOW_MS } from '../../../src/emails/idempotency/key.ts';
import { sweepIdempotency } from '../../../src/emails/idempotency/store.ts';
import type { HttpResponse } from '../../../src/system/fetch/answer.ts';
import type { Fetch } from '../../../src/system/fetch.ts';
import { open, post } from '../../http/connection.ts';
import { conforming } from '../../support/conformance.ts';
import { openSpool, SENDER_DOMAIN } from '../../support/spool.ts';
import { emailBody, SIMULATOR } from '../fixtures.ts';

const answer: HttpResponse = { status: 200, headers: {}, body: Buffer.from('data'), truncated: false };
/** What is on the web. */
const downloads = new Map<string, () => Promise<HttpResponse>>();
const download: Fetch = async ({ url }) => {
  const found = downloads.get(url);
  if (!found) throw new Error('no route to host');
  return found();
};

const spool = await openSpool({ system: { fetch: download } });
after(() => spool.close());

function send(idempotencyKey: string, more: Record<string, unknown> = {}, key?: string) {
  return spool.request('POST', '/v1/emails', {
    body: emailBody(more),
    headers: { 'idempotency-key': idempotencyKey },
    ...(key !== undefined && { key }),
  });
}

async function countEmails(): Promise<number> {
  const { count } = await spool.app.db.read
    .selectFrom('emails')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Where the server can be reached by sockets. */
let address: Promise<string> | undefined;
function listening(): Promise<string> {
  address ??= spool.openServer().then((server) => server.listen({ host: '127.0.0.1', port: 0 }));
  return address;
}

function recordOf(key: string) {
  return spool.app.db.read.selectFrom('idempotency').selectAll().where('key', '=', key).execute();
}

test('a repeated request gets the response of the first one, with a header that says so', async () => {
  const first = await send('repeat');
  assert.equal(first.status, 200);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  const before = await countEmails();
  const second = await send('repeat');
  assert.equal(second.status, 200);
  assert.deepEqual(second.body, first.body);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.notEqual(second.headers['x-request-id'], first.headers['x-request-id']);
  assert.equal(await countEmails(), before);
});

test('a request with the same key and another body is a conflict, and the first response stays', async () => {
  const first = await send('conflict');
  const other = await send('conflict', { subject: 'Other' });
  assert.equal(other.status, 409);
  assert.equal(other.body.error.type, 'idempotency_conflict');
  assert.deepEqual((await send('conflict')).body, first.body);
});

test('a key belongs to one tenant and one mode, also that of a batch', async () => {
  const other = await spool.addTenant('other');
  const email = emailBody({ to: `delivered@${SIMULATOR}` });
  for (const [path, body] of [
    ['/v1/emails', email],
    ['/v1/emails/batch', { emails: [email] }],
  ] as const) {
    const bodies = new Set<string>();
    for (const key of [spool.testKey, spool.liveKey, other.testKey, other.liveKey]) {
      const headers = { 'idempotency-key': `scope of ${path}` };
      const answer = await spool.request('POST', path, { body, headers, key });
      assert.deepEqual([answer.status, answer.headers['idempotency-replayed']], [200, undefined]);
      bodies.add(JSON.stringify(answer.body));
    }
    assert.equal(bodies.size, 4, path);
  }
});

for (const [what, path, letter, bodyOf] of [
  ['a key', '/v1/emails', 'k', (subject: string) => emailBody({ subject })],
  [
    'the key of a batch',
    '/v1/emails/batch',
    'b',
    (subject: string) => ({ emails: [emailBody({ subject })] }),
  ],
] as const) {
  const post = (key: string, subject = 'Hello') =>
    spool.request('POST', path, { body: bodyOf(subject), headers: { 'idempotency-key': key } });

  test(`${what} has 1 to 256 characters`, async () => {
    for (const key of ['', letter.repeat(257)]) {
      const { status, body } = await post(key);
      const { type, param } = body.error;
      assert.deepEqual([status, type, param], [400, 'validation_error', 'Idempotency-Key']);
    }
    for (const key of [letter, letter.repeat(256)]) {
      const first = await post(key);
      assert.equal(first.status, 200);
      assert.deepEqual((await post(key)).body, first.body);
    }
  });

  test(`${what} is free again after 24 hours, and not a millisecond before`, async () => {
    assert.equal(IDEMPOTENCY_WINDOW_MS, 24 * 3_600_000);
    const key = `window of ${path}`;
    const first = await post(key);
    await spool.clock.advance(IDEMPOTENCY_WINDOW_MS - 1);
    assert.deepEqual((await post(key)).body, first.body);
    assert.equal((await post(key, 'Other')).body.error.type, 'idempotency_conflict');
    await spool.clock.advance(1);
    const second = await post(key, 'Other');
    assert.equal(second.status, 200);
    assert.notDeepEqual(second.body, first.body);
    assert.deepEqual((await post(key, 'Other')).body, second.body, 'it is recorded anew');
  });
}

test('two Idempotency-Keys are refused, whether or not they are the same', async () => {
  const address = await listening();
  const { port } = new URL(address);
  const body = JSON.stringify(emailBody());
  for (const [one, two] of [
    ['first', 'second'],
    ['same', 'same'],
  ]) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(
      `POST /v1/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${spool.testKey}\r\nConnection: close\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Idempotency-Key: ${one}\r\nidempotency-key: ${two}\r\n\r\n${body}`,
    );
    const answer = await text(socket);
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /"param":"Idempotency-Key"/);
    assert.match(answer, /must be given once/);
  }
});

test('a refused request leaves no record, so that a corrected one may use its key', async () => {
  const refusals: [Record<string, unknown>, number][] = [
    [{ subject: '' }, 400],
    [{ to: 'nobody' }, 400],
    [{ from: 'a@unknown.example' }, 422],
    [{ to: `suppressed@${SIMULATOR}` }, 422],
  ];
  for (const [more, status] of refusals) assert.equal((await send('corrected', more)).status, status);
  assert.deepEqual(await recordOf('corrected'), []);
  assert.equal((await send('corrected')).status, 200);
  assert.equal(
    (await send('corrected', { subject: '' })).status,
    400,
    'a bad request is a bad request first',
  );
});

test('the order of keys and the white space of a body do not make it another', async () => {
  const body = emailBody({ to: ['a@rcpt.example', 'b@rcpt.example'] });
  const first = await send('order', body);
  const reversed = Object.fromEntries(Object.entries(body).reverse());
  const second = await spool.inject({
    method: 'POST',
    url: '/v1/emails',
    headers: {
      authorization: `Bearer ${spool.testKey}`,
      'content-type': 'application/json',
      'idempotency-key': 'order',
    },
    payload: JSON.stringify(reversed, null, 3),
  });
  assert.equal(second.statusCode, 200);
  assert.deepEqual(second.json(), first.body);
  const swapped = await send('order', { ...body, to: ['b@rcpt.example', 'a@rcpt.example'] });
  assert.equal(swapped.status, 409, 'the order of a list means something');
});

test('canonical JSON sorts keys at every depth and keeps what differs apart', () => {
  assert.equal(canonicalJson({ b: [{ d: 1, c: null }], a: 'x' }), '{"a":"x","b":[{"c":null,"d":1}]}');
  const different = [
    '1',
    1,
    true,
    null,
    [],
    {},
    [null],
    [[]],
    { a: 1 },
    { a: '1' },
    '{"a":1}',
    ['a', 'b'],
    ['a,b'],
  ];
  assert.equal(new Set(different.map((value) => canonicalJson(value))).size, different.length);
  const hashOf = (method: string, path: string) => hashRequest({ method, path, body: {} }, () => undefined);
  assert.notEqual(hashOf('POST', '/v1/emails'), hashOf('POST', '/v1/emails/batch'));
  assert.notEqual(hashOf('POST', '/v1/emails'), hashOf('PUT', '/v1/emails'));
});

test('a hundred duplicates at once, over as many connections, make exactly one email', async () => {
  const before = await countEmails();
  const port = Number(new URL(await listening()).port);
  const clients = await Promise.all(Array.from({ length: 100 }, () => open(port)));
  const headers = `Authorization: Bearer ${spool.testKey}\r\nIdempotency-Key: hundred\r\n`;
  // Head and body are one write: a body that follows later is cut off as too slow when the machine is busy.
  const request = post('/v1/emails', JSON.stringify(emailBody()), headers);
  for (const client of clients) client.write(request);
  const answers = await Promise.all(clients.map((client) => client.answer()));
  for (const { socket } of clients) socket.destroy();
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal(new Set(answers.map(({ body }) => JSON.parse(body).id)).size, 1);
  assert.equal(await countEmails(), before + 1);
});

test('an attachment that was taken out of the body counts by what it holds', async () => {
  const attached = (fill: string) => ({
    attachments: [{ filename: 'a.bin', content: Buffer.alloc(90_000, fill).toString('base64') }],
  });
  const first = await send('attached', attached('a'));
  assert.equal(first.status, 200);
  const second = await send('attached', attached('a'));
  assert.deepEqual(second.body, first.body);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  const other = await send('attached', attached('b'));
  assert.deepEqual([other.status, other.body.error.type], [409, 'idempotency_conflict']);
});

test('a repeat is answered without the files it was made from', async () => {
  const path = 'https://files.example/a.txt';
  const more = { attachments: [{ path }] };
  downloads.set(path, async () => answer);
  const first = await send('files', more);
  assert.equal(first.status, 200, JSON.stringify(first.body));
  downloads.delete(path);
  const second = await send('files', more);
  assert.deepEqual([second.status, second.body], [200, first.body]);
  assert.equal((await send('files anew', more)).status, 400);
});

test('two servers that share a database accept one idempotency key once, by their transactions alone', async () => {
  const before = await countEmails();
  const [server, other] = [await spool.openServer(), conforming(await createApiServer(spool.app))];
  const answers = await Promise.all(
    [server, other, server, other].map((one) =>
      one.inject({
        method: 'POST',
        url: '/v1/emails',
        headers: { authorization: `Bearer ${spool.testKey}`, 'idempotency-key': 'two servers' },
        payload: emailBody(),
      }),
    ),
  );
  await other.close();
  assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [200]);
  assert.equal(new Set(answers.map((one) => one.json<{ id: string }>().id)).size, 1);
  assert.equal(await countEmails(), before + 1);
});

test('one of two concurrent requests with the same key and different bodies is accepted', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => send('race', { subject: `Body ${index % 2}` })),
  );
  assert.equal(new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.id)).size, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 10);
});

test('a repeat is answered even when the domain has lost its verification since', async () => {
  const from = `a@${SENDER_DOMAIN}`;
  const first = await send('lost', { from }, spool.liveKey);
  assert.equal(first.status, 200);
  const domains = await spool.request('GET', '/v1/domains', { key: spool.liveKey });
  const { id } = domains.body.data[0];
  assert.equal((await spool.request('DELETE', `/v1/domains/${id}`, { key: spool.liveKey })).status, 204);
  assert.equal((await send('lost too', { from }, spool.liveKey)).status, 422);
  const second = await send('lost', { from }, spool.liveKey);
  assert.deepEqual([second.status, second.body], [200, first.body]);
});

test('the sweep removes records past their window, and no others', async () => {
  await send('old');
  await spool.clock.advance(3_600_000);
  await send('young');
  await spool.clock.advance(IDEMPOTENCY_WINDOW_MS - 3_600_000);
  const removed = await spool.app.db.commit(sweepIdempotency, { now: spool.clock.now() });
  assert.ok(removed > 0);
  assert.deepEqual(await recordOf('old'), []);
  assert.equal((await recordOf('young')).length, 1);
  assert.equal(await spool.app.db.commit(sweepIdempotency, { now: spool.clock.now() }), 0);
});
