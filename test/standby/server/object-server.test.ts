import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { MAX_OBJECT_BYTES } from '../../../src/objects/object-store.ts';
import { readTokens } from '../../../src/standby/server/files.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { clientOf, startObjectHost, type TestObjectHost } from './object-host.ts';

/** Opens a connection that checks no certificate. */
async function open({ address }: TestObjectHost): Promise<TLSSocket> {
  const [host, port] = address.split(':');
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

type Raw = { line: string; headers?: Record<string, string>; body?: string; ends?: boolean };

/** Sends a request as it is written, and returns the status of the answer; 0 when there is none. */
async function send(host: TestObjectHost, { line, headers = {}, body = '', ends }: Raw): Promise<number> {
  const socket = await open(host);
  const all = { host: 'x', authorization: `Bearer ${host.token}`, connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  if (ends) socket.destroySoon();
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (part) => {
    text += part;
  });
  await once(socket, 'close');
  return Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0);
}

function digestOf(text: string): Record<string, string> {
  const hash = createHash('sha256').update(text).digest('base64');
  return { 'content-length': String(text.length), 'content-digest': `sha-256=:${hash}:` };
}

test('a request without the whole token is refused, whatever it asks for', async (context) => {
  const host = await startObjectHost(context);
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    `Basic ${host.token}`,
    `Bearer ${host.token.slice(1)}`,
  ])
    for (const line of ['GET /objects?prefix=', 'GET /objects/a1/b', 'DELETE /objects/a1/b', 'POST /x'])
      assert.equal(await send(host, { line, headers: { authorization } }), 401, authorization);
  const put = {
    line: 'PUT /objects/a1/b',
    headers: { authorization: 'Bearer x', ...digestOf('x') },
    body: 'x',
  };
  assert.equal(await send(host, put), 401);
  assert.deepEqual(readdirSync(host.objects), []);
});

test('a body that is longer than any object is not read to its end', async (context) => {
  const host = await startObjectHost(context);
  const socket = await open(host);
  socket.on('error', () => {});
  const head = `PUT /objects/a1/b HTTP/1.1\r\nhost: x\r\ncontent-length: ${MAX_OBJECT_BYTES + 1}\r\n\r\n`;
  socket.write(head);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1.1 401 .*\r\nconnection: close\r\n/is);
  await once(socket, 'close');
});

test('no target leads out of the folder, and nothing but objects of an installation is stored', async (context) => {
  const host = await startObjectHost(context);
  writeFileSync(join(host.folder, 'secret'), 'secret');
  const targets: [string, number][] = [
    ['/objects/../secret', 404],
    ['/objects/a1/../../secret', 400],
    ['/objects/%2e%2e/secret', 400],
    ['/objects//etc/passwd', 400],
    ['/objects/a1/..%2f..%2fsecret', 400],
    ['/objects/.partial/x', 400],
    ['/objects/alone', 400],
    ['/objects/a1/b?x', 400],
    ['/objects/', 400],
    ['/secret', 404],
    ['/', 404],
    ['*', 404],
    ['http://other/objects/a1/b', 404],
  ];
  for (const [target, status] of targets)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { headers: digestOf('x'), body: 'x' } : {};
      const found = await send(host, { line: `${method} ${target}`, ...body });
      assert.ok(found === status || found === 400 || found === 404, `${method} ${target}: ${found}`);
    }
  for (const query of ['prefix=../', 'prefix=%2F', 'prefix=&after=..%2F', 'prefix=a1%2F..'])
    assert.equal(await send(host, { line: `GET /objects?${query}` }), 400, query);
  for (const method of ['POST', 'PATCH', 'HEAD', 'OPTIONS'])
    assert.equal(await send(host, { line: `${method} /objects/a1/b` }), 405, method);
  assert.deepEqual(readdirSync(host.objects), []);
  assert.equal(readFileSync(join(host.folder, 'secret'), 'utf8'), 'secret');
});

test('nothing is stored but a whole body with its length and its hash', async (context) => {
  const host = await startObjectHost(context);
  const line = 'PUT /objects/a1/b';
  const { 'content-digest': digest = '' } = digestOf('body');
  const cases: [Raw, number][] = [
    [
      {
        line,
        headers: { 'content-digest': digest, 'transfer-encoding': 'chunked' },
        body: '4\r\nbody\r\n0\r\n\r\n',
      },
      411,
    ],
    [{ line, headers: { 'content-length': '4' }, body: 'body' }, 400],
    [{ line, headers: { 'content-length': '4', 'content-digest': 'sha-512=:x:' }, body: 'body' }, 400],
    [{ line, headers: { 'content-length': '4', 'content-digest': digest }, body: 'bodi' }, 400],
    [
      {
        line,
        headers: { 'content-length': String(MAX_OBJECT_BYTES + 1), 'content-digest': digest },
      },
      413,
    ],
    [{ line, headers: { 'content-length': '5', 'content-digest': digest }, body: 'body', ends: true }, 0],
  ];
  for (const [raw, status] of cases) {
    const found = await send(host, raw);
    assert.ok(found === status || (raw.ends && found === 0), `${JSON.stringify(raw.headers)}: ${found}`);
  }
  assert.equal(existsSync(join(host.objects, 'a1/b')), false);
  assert.equal(await send(host, { line, headers: digestOf('body'), body: 'body' }), 204);
  assert.equal(readFileSync(join(host.objects, 'a1/b'), 'utf8'), 'body');
});

test('the token, the key and the certificate are made once, and for their owner alone', async (context) => {
  const first = await startObjectHost(context);
  await first.close();
  const again = await startObjectHost(context, { folder: first.folder });
  assert.deepEqual([again.pin, again.token], [first.pin, first.token]);
  for (const file of ['token', 'certificate.key', 'objects'])
    assert.equal(statSync(join(first.folder, file)).mode & 0o077, 0, file);
  await clientOf(context, again).list('');
  again.reload();
});

test('a second token lets the first one end', async (context) => {
  const folder = temporaryDirectory('tokens');
  const tokenFile = join(folder, 'tokens');
  const [one, other] = ['1'.repeat(32), '2'.repeat(32)];
  writeFileSync(tokenFile, `# of the primary\n${one}\n\n  ${other}\n`);
  const host = await startObjectHost(context, { tokenFile });
  for (const token of [one, other]) assert.deepEqual(await clientOf(context, host, { token }).list(''), []);
  writeFileSync(tokenFile, `${other}\n`);
  host.reload();
  await assert.rejects(clientOf(context, host, { token: one }).list(''), /does not know the token/);
  assert.deepEqual(await clientOf(context, host, { token: other }).list(''), []);
  assert.equal(existsSync(join(host.folder, 'token')), false);
  for (const [text, message] of [
    ['', /has no token/],
    ['short\n', /a line that is no token/],
    [`${one}\n${'a b'.repeat(20)}\n`, /a line that is no token/],
  ] as const) {
    writeFileSync(tokenFile, text);
    assert.throws(() => readTokens(tokenFile), { name: 'ServerFileError', message });
  }
  assert.throws(() => readTokens(join(folder, 'none')), { message: /cannot be read/ });
});

test('a folder that is not there is not made', async (context) => {
  const folder = join(temporaryDirectory('mount'), 'disk');
  await assert.rejects(startObjectHost(context, { folder }), {
    name: 'ServerFileError',
    message: /is not there/,
  });
  assert.equal(existsSync(folder), false);
});
