/** What Node would answer by itself, on real connections. `exchange` resolves when the connection is closed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { isId } from '../../../src/system/ids.ts';
import { connectTo, listen } from '../connection.ts';
import { serve } from '../serve.ts';

const { server } = await serve();
const port = await listen(server);
after(() => server.close());

async function exchange(bytes: string): Promise<{ status: number; head: string; text: string }> {
  const socket = await connectTo(port);
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.end(bytes);
  await once(socket, 'close');
  const [head = '', text = ''] = Buffer.concat(parts).toString().split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, text };
}

function get(lines: readonly string[], version = '1.1'): string {
  return `GET /things HTTP/${version}\r\n${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`;
}

const MALFORMED: readonly [name: string, bytes: string, status: number][] = [
  ['no request at all', 'EHLO a.example\r\n\r\n', 400],
  ['a head that is too large', get(['Host: a', `X-Long: ${'x'.repeat(100_000)}`]), 431],
  ['a header without a name', get(['Host: a', ': x']), 400],
  ['a header with a control character', get(['Host: a', 'X: a\u0001b']), 400],
  [
    'a length and chunks at once',
    'POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['a length that is no number', 'POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400],
  ['no host', get([]), 400],
  ['two hosts', get(['Host: a', 'host: b']), 400],
  ['an expectation nobody meets', get(['Host: a', 'Expect: miracle']), 417],
];

for (const [name, bytes, status] of MALFORMED) {
  test(`${name}: ${status}, in the envelope, with a request id`, async () => {
    const answer = await exchange(bytes);
    assert.equal(answer.status, status, answer.head);
    assert.match(answer.head, /^HTTP\/1\.1 \d+ [A-Z][A-Za-z ]+\r\n/);
    assert.match(answer.head, /^content-type: application\/json; charset=utf-8\r$/im);
    const { error } = JSON.parse(answer.text);
    assert.deepEqual(Object.keys(error), ['type', 'message', 'requestId']);
    assert.equal(error.type, 'validation_error');
    assert.ok(isId('req', error.requestId));
    assert.ok(answer.head.toLowerCase().includes(`x-request-id: ${error.requestId}`));
    assert.ok(answer.head.includes(`ength: ${Buffer.byteLength(answer.text)}`));
  });
}

test('bytes that are not HTTP are refused once, however many there are', async () => {
  let errors = 0;
  const count = () => void errors++;
  server.server.on('clientError', count);
  await exchange('EHLO a.example\r\n\r\n'.repeat(100));
  server.server.off('clientError', count);
  assert.equal(errors, 1);
});

test('a client older than HTTP/1.1 need not say for which host', async () => {
  assert.equal((await exchange(get([], '1.0'))).status, 200);
});

test('an expectation of 100-continue is met', async () => {
  const { head } = await exchange(get(['Host: a', 'Expect: 100-continue']));
  assert.match(head, /^HTTP\/1\.1 200 /);
});

test('a method that no path is served by is answered like any other', async () => {
  for (const method of ['PROPFIND', 'TRACE', 'QUERY', 'PURGE', 'OPTIONS']) {
    const answer = await exchange(`${method} /things HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    assert.equal(answer.status, 405, method);
    assert.match(answer.head, /^allow: GET, HEAD, POST\r$/im);
    assert.equal(JSON.parse(answer.text).error.type, 'method_not_allowed');
  }
});
