/** Calls that JSON cannot describe: many at once, ended ones, a server that restarts, and the key, which is shown nowhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Postrider, PostriderError } from '../src/index.ts';
import { EMAIL, isDeno, json, KEY, serve } from './server.ts';

async function errorOf(work: PromiseLike<unknown>): Promise<PostriderError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof PostriderError, String(error));
    return error;
  }
  throw new Error('The call succeeded.');
}

test('1000 sends in a row use one connection', async () => {
  await using server = await serve((_, response) => json(response, { id: 'em_1', status: 'queued' }));
  const client = server.client();
  const keys = new Set<string>();
  for (let i = 0; i < 1000; i += 1) keys.add((await client.emails.send(EMAIL)).idempotencyKey);
  // Deno has its connection back a moment later than the program has its answer.
  assert.ok(server.connections() <= (isDeno ? 5 : 1), `${server.connections()} connections`);
  assert.equal(keys.size, 1000);
});

test('100 calls at once use at most 100 connections, and each gets its own answer', async () => {
  await using server = await serve((request, response) =>
    json(response, { id: request.url?.split('/').at(-1) }),
  );
  const client = server.client();
  const ids = Array.from({ length: 100 }, (_, index) => `top_${index}`);
  const topics = await Promise.all(ids.map((id) => client.topics.get(id)));
  assert.deepEqual(
    topics.map(({ id }) => id),
    ids,
  );
  assert.ok(server.connections() <= 100);
});

test('close ends what is open and refuses what comes later', async () => {
  let arrived = 0;
  await using server = await serve(() => {
    arrived += 1;
  });
  const client = server.client();
  const open = [errorOf(client.emails.send(EMAIL)), errorOf(client.topics.get('top_1'))];
  while (arrived < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  client.close();
  for (const error of await Promise.all(open)) assert.equal(error.type, 'closed');
  assert.equal((await errorOf(client.topics.get('top_1'))).type, 'closed');
  assert.equal(arrived, 2);
  while (server.openConnections() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

const isOther = (isDeno || 'Bun' in globalThis) && 'the runtime is itself one of these';

test('Deno and Bun, which repeat requests by themselves, keep no connection of those that must not be repeated', {
  skip: isOther,
}, async () => {
  const inits: (RequestInit & { client?: unknown })[] = [];
  const fetch = async (_: unknown, init: RequestInit = {}) => {
    inits.push(init);
    return Response.json({ id: 'a' });
  };
  const callAll = async () => {
    const client = new Postrider({ key: KEY, baseUrl: 'http://127.0.0.1:9', fetch });
    await client.emails.send(EMAIL);
    await client.topics.get('top_1');
    await client.topics.create({ name: 'News' });
    await client.emails.cancel('em_1');
    client.close();
    return inits.splice(0);
  };
  let closed = 0;
  const made = {
    close() {
      closed += 1;
    },
  };
  const runtime = globalThis as { Deno?: unknown; Bun?: unknown };
  try {
    runtime.Deno = { createHttpClient: (options: object) => Object.assign(made, options) };
    const inDeno = await callAll();
    assert.deepEqual(
      inDeno.map(({ client }) => client),
      [undefined, undefined, made, made],
    );
    assert.deepEqual([closed, 'poolMaxIdlePerHost' in made && made.poolMaxIdlePerHost], [1, 0]);
    delete runtime.Deno;
    runtime.Bun = {};
    const inBun = await callAll();
    assert.deepEqual(
      inBun.map(({ keepalive }) => keepalive),
      [undefined, undefined, false, false],
    );
  } finally {
    delete runtime.Deno;
    delete runtime.Bun;
  }
});

test('close ends a stream that nobody reads', async () => {
  await using server = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write('a');
  });
  const client = server.client();
  const file = await client.exports.getFile('exp_1');
  client.close();
  while (server.openConnections() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await assert.rejects(file.text(), { type: 'closed' });
});

test('a call whose signal has fired sends nothing, and a signal that outlives calls keeps none of them', async () => {
  let arrived = 0;
  await using server = await serve((_, response) => {
    arrived += 1;
    json(response, { id: 'top_1' });
  });
  const client = server.client();
  const error = await errorOf(
    client.topics.get('top_1', { signal: AbortSignal.abort(new Error('No more.')) }),
  );
  assert.equal(error.type, 'canceled');
  assert.equal((error.cause as Error).message, 'No more.');
  assert.equal(arrived, 0);
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  for (let i = 0; i < 3; i += 1) await client.topics.get('top_1', { signal });
  assert.equal(listeners, 0);
});

test('a call is canceled in the pause before a repeat, without waiting for its end', async () => {
  await using server = await serve((_, response) => {
    response.setHeader('retry-after', '20');
    json(response, { error: { type: 'unavailable', message: 'Busy.' } }, 503);
  });
  const startedAt = performance.now();
  const error = await errorOf(server.client().topics.get('top_1', { signal: AbortSignal.timeout(100) }));
  assert.equal(error.type, 'canceled');
  assert.ok(performance.now() - startedAt < 5000);
});

test('a pause that is longer than the rest of the deadline ends the call at once, with the last error', async () => {
  await using server = await serve((_, response) => {
    response.setHeader('retry-after', '20');
    json(response, { error: { type: 'unavailable', message: 'Busy.' } }, 503);
  });
  const startedAt = performance.now();
  const error = await errorOf(server.client({ deadlineMs: 5000 }).topics.get('top_1'));
  assert.deepEqual([error.type, error.status, error.retryAfter], ['unavailable', 503, 20]);
  assert.ok(performance.now() - startedAt < 4000);
});

test('a date in Retry-After counts from the clock of the server', async () => {
  const now = Date.now() + 600_000;
  await using server = await serve((_, response) => {
    response.setHeader('date', new Date(now).toUTCString());
    response.setHeader('retry-after', new Date(now + 40_000).toUTCString());
    json(response, { error: { type: 'unavailable', message: 'Busy.' } }, 503);
  });
  assert.equal((await errorOf(server.client().topics.get('top_1'))).retryAfter, 40);
});

test('sends while the server restarts arrive once each', async () => {
  const sent = new Map<string, number>();
  const answer: Parameters<typeof serve>[0] = (request, response) => {
    const key = String(request.headers['idempotency-key']);
    sent.set(key, (sent.get(key) ?? 0) + 1);
    json(response, { id: `em_${key}`, status: 'queued' });
  };
  const first = await serve(answer);
  const client = first.client({ maxRetries: 5 });
  const before = await Promise.all(Array.from({ length: 20 }, () => client.emails.send(EMAIL)));
  await first[Symbol.asyncDispose]();
  const during = Array.from({ length: 20 }, () => client.emails.send(EMAIL));
  await new Promise((resolve) => setTimeout(resolve, 300));
  await using _ = await serve(answer, first.port);
  const keys = [...before, ...(await Promise.all(during))].map(({ idempotencyKey }) => idempotencyKey);
  assert.equal(new Set(keys).size, 40);
  assert.deepEqual([...sent.keys()].sort(), keys.sort());
});

test('the error of a lost send has the key with which the program asks again', async () => {
  const keys: unknown[] = [];
  await using server = await serve((request, response) => {
    keys.push(request.headers['idempotency-key']);
    if (keys.length < 4) response.destroy();
    else json(response, { id: 'em_1', status: 'queued' });
  });
  const client = server.client();
  const { type, idempotencyKey = '' } = await errorOf(client.emails.send(EMAIL));
  assert.equal(type, 'connection_error');
  const sent = await client.emails.send(EMAIL, { idempotencyKey });
  assert.deepEqual(new Set(keys), new Set([sent.idempotencyKey]));
});

test('the key is in no message, dump or text of a client and its errors', async () => {
  const large = gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1));
  await using server = await serve((request, response) => {
    const said = `You sent ${request.headers.authorization}`;
    response.setHeader('x-seen', said);
    const issues = [{ path: said, message: said }];
    const answers: Record<string, () => unknown> = {
      json: () => json(response, { error: { type: 'not_found', message: said, issues } }, 404),
      ok: () => response.end(`<p>${said}</p>`),
      html: () => response.writeHead(404).end(`<p>${said}</p>`),
      cut: () => response.writeHead(200, { 'content-length': 1000 }).write('a', () => response.destroy()),
      large: () => response.writeHead(200, { 'content-encoding': 'gzip' }).end(large),
      foreign: () => response.socket?.end(`${said} by another protocol\r\n\r\n`),
    };
    answers[request.url?.split('/')[3] ?? '']?.();
  });
  const client = server.client({ maxRetries: 0 });
  const ids = ['json', 'ok', 'html', 'cut', 'large', 'foreign'];
  const errors = await Promise.all(ids.map((id) => errorOf(client.topics.get(id))));
  const download = await client.emails.getRaw('cut').then((file) => errorOf(file.text()));
  const refused = await errorOf(
    new Postrider({ key: KEY, baseUrl: 'http://127.0.0.1:1', maxRetries: 0 }).topics.get('a'),
  );
  const bad = await errorOf(
    Promise.resolve().then(() => new Postrider({ key: `${KEY}\n`, baseUrl: 'http://localhost' })),
  );
  for (const value of [client, client.emails, ...errors, download, refused, bad]) {
    const texts = [
      inspect(value, { depth: 20, showHidden: true, getters: true }),
      JSON.stringify(value),
      String(value),
      value instanceof Error ? value.stack : '',
    ];
    assert.ok(!texts.join('\n').includes('secret'), texts.join('\n'));
  }
  assert.match(errors[0]?.message ?? '', /^You sent Bearer …$/);
  const types = ['not_found', 'invalid_response', 'http_error'];
  const lost = 'connection_error';
  assert.deepEqual(
    errors.map(({ type }) => type),
    [...types, lost, 'invalid_response', lost],
  );
});

test('an answer that is no object, and a page without a list, are no answers', async () => {
  let body = '';
  await using server = await serve((_, response) => response.end(body));
  const client = server.client();
  for (body of ['null', '[]', '"ok"', '1', '{"error":null}'])
    await assert.rejects(Promise.resolve(client.topics.list()), { type: 'invalid_response', status: 200 });
  for (body of ['null', '[]', '"ok"', '1'])
    await assert.rejects(client.topics.get('top_1'), { type: 'invalid_response', status: 200 });
});

test('a 401 that the runtime keeps back is one, and is not repeated', async () => {
  let asked = 0;
  const keepsBack = async () => {
    asked += 1;
    throw new TypeError('fetch failed', { cause: new Error('expected non-null body source') });
  };
  const client = new Postrider({ key: KEY, baseUrl: 'http://localhost', fetch: keepsBack });
  const { type, status, idempotencyKey } = await errorOf(client.emails.send(EMAIL));
  assert.deepEqual([type, status, typeof idempotencyKey, asked], ['http_error', 401, 'string', 1]);
});

test('an error names what the system said', async () => {
  const server = await serve(() => undefined);
  await server[Symbol.asyncDispose]();
  const error = await errorOf(server.client({ maxRetries: 0 }).topics.get('a'));
  assert.match(error.message, /ECONNREFUSED|Connection refused/);
  assert.ok(error.cause instanceof Error);
  assert.equal(error.name, 'PostriderError');
  assert.deepEqual(Object.keys(error), ['type']);
});

test('half characters and names beyond ASCII harm nothing', async () => {
  const bodies: string[] = [];
  await using server = await serve((_, response, body) => {
    bodies.push(body.toString());
    json(response, { id: 'x', data: [] });
  });
  const client = server.client();
  assert.equal((await errorOf(client.topics.get('top_\ud800'))).type, 'invalid_argument');
  assert.equal((await errorOf(client.topics.get(undefined as unknown as string))).type, 'invalid_argument');
  assert.equal(
    (await errorOf(client.emails.send(EMAIL, { idempotencyKey: 'ключ' }))).type,
    'invalid_argument',
  );
  assert.equal((await errorOf(client.topics.create({ name: 1n } as never))).type, 'invalid_argument');
  await client.topics.create({ name: 'a\ud800' });
  await client.topics.list({ startingAfter: 'a\ud800' });
  assert.equal(bodies[0], String.raw`{"name":"a\ud800"}`);
});

test('addresses with a user, a query, or another protocol are refused, and this machine is any of its names', async () => {
  const make = (baseUrl: string, key = 'svc_prd_a') =>
    Promise.resolve().then(() => new Postrider({ key, baseUrl }));
  for (const url of ['https://u:p@x.test', 'https://x.test?a=b', 'https://x.test#a', 'ftp://x.test', ''])
    assert.equal((await errorOf(make(url))).type, 'invalid_argument', url);
  for (const url of ['http://10.0.0.1', 'http://127.0.0.1.x.test', 'http://localhost.x.test'])
    assert.equal((await errorOf(make(url))).type, 'insecure_base_url', url);
  for (const url of ['http://127.9.9.9:8025', 'http://[::1]', 'http://a.localhost', 'https://x.test/mail/'])
    await make(url);
  await make('http://10.0.0.1', 'svc_dev_a');
});

test('key and address come from the environment when they are not given', async () => {
  await using server = await serve((request, response) =>
    json(response, { id: request.headers.authorization }),
  );
  process.env['SERVICE_API_KEY'] = 'svc_dev_environment';
  process.env['SERVICE_BASE_URL'] = server.baseUrl;
  try {
    assert.equal((await new Postrider().topics.get('a')).id, 'Bearer svc_dev_environment');
  } finally {
    delete process.env['SERVICE_API_KEY'];
    delete process.env['SERVICE_BASE_URL'];
  }
  assert.throws(() => new Postrider(), { type: 'invalid_argument' });
});

test('a list that points at itself, or nowhere, ends with an error and not never', async () => {
  await using server = await serve((request, response) => {
    const isEmpty = request.url?.includes('limit=1');
    json(response, {
      data: isEmpty ? [] : [{ id: 'top_1' }],
      hasMore: true,
      nextCursor: isEmpty ? null : 'top_1',
    });
  });
  const { topics } = server.client();
  const read = async (limit: number) => {
    for await (const _ of topics.list({ limit }));
  };
  assert.equal((await errorOf(read(1))).type, 'invalid_response');
  assert.equal((await errorOf(read(2))).type, 'invalid_response');
});

test('a list asks nothing until it is awaited or read, and then no page twice', async () => {
  const urls: unknown[] = [];
  await using server = await serve((request, response) => {
    urls.push(request.url);
    const isFirst = request.url === '/v1/topics';
    json(response, {
      data: [{ id: isFirst ? 'b' : 'a' }],
      hasMore: isFirst,
      nextCursor: isFirst ? 'b' : null,
    });
  });
  const list = server.client().topics.list();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(urls, []);
  assert.equal((await list).data[0]?.id, 'b');
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  assert.deepEqual(ids, ['b', 'a']);
  assert.deepEqual(urls, ['/v1/topics', '/v1/topics?startingAfter=b']);
});
