/** `postrider mcp`, as a program of this machine starts it, and what it does with answers that are none. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { runProgram } from '../../src/cli/program.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

const daemon = await openTestApp();
const server = await daemon.openServer();
const address = await server.listen({ host: '127.0.0.1', port: 0 });
after(() => daemon.close());

/** Requests that a server has got whose answers the test decides. */
const asked: { headers: Record<string, unknown>; body: string }[] = [];
let answer: (response: ServerResponse) => void = (response) => void response.end();
const scripted = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  asked.push({ headers: request.headers, body });
  answer(response);
});
scripted.listen(0, '127.0.0.1');
await once(scripted, 'listening');
after(() => scripted.close());
const SCRIPTED = `http://127.0.0.1:${(scripted.address() as AddressInfo).port}`;

async function run(input: string, env: Record<string, string> = {}) {
  const terminal = fakeTerminal(
    { SERVICE_API_KEY: daemon.testKey, SERVICE_BASE_URL: address, ...env },
    { input },
  );
  const code = await runProgram(['mcp'], terminal);
  const lines = terminal.output.split('\n').filter((line) => line !== '');
  return { code, messages: lines.map((line) => JSON.parse(line)), errors: terminal.errors };
}

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

test('the official client uses the tools over standard input and output, in both kinds of revisions', async () => {
  for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
    const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    const loader = fileURLToPath(new URL('../../bin/typescript.ts', import.meta.url));
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['--import', loader, main, 'mcp'],
      env: { SERVICE_API_KEY: daemon.testKey, SERVICE_BASE_URL: address },
    });
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    assert.ok((await client.listTools()).tools.length > 20);
    const sent = await client.callTool({
      name: 'send_email',
      arguments: {
        from: 'hello@sandbox.mx.postrider.example',
        to: ['delivered@simulator.mx.postrider.example'],
        subject: 'Grüße',
        text: 'Hi',
      },
    });
    assert.equal((sent.structuredContent as { status: string }).status, 'queued');
    await client.close();
  }
});

test('it ends with its input, and answers what was asked before', async () => {
  const { code, messages, errors } = await run(`${LIST}\n\n`);
  assert.deepEqual([code, errors, messages.length], [0, '', 1]);
  assert.equal(messages[0].result.tools[0].name, 'send_email');
});

test('lines that are no message are answered as such, and go nowhere', async () => {
  const { messages } = await run(`{\n[${LIST}]\n7`, { SERVICE_BASE_URL: SCRIPTED });
  assert.deepEqual(
    messages.map(({ id, error }) => [id, error.code]),
    [
      [null, -32700],
      [null, -32600],
      [null, -32600],
    ],
  );
  assert.deepEqual(asked, []);
});

test('a refused key, a page of a proxy, a redirect and silence are errors of the request that was asked', async () => {
  const refused = await run(LIST, { SERVICE_API_KEY: 'svc_dev_unknown' });
  assert.match(refused.messages[0].error.message, /has answered 401: The API key is not valid/);

  const env = { SERVICE_BASE_URL: SCRIPTED };
  answer = (response) =>
    void response.writeHead(502, { 'content-type': 'text/html' }).end(`<h1>${'x'.repeat(9_000)}`);
  const proxied = await run(LIST, env);
  assert.match(proxied.messages[0].error.message, /has answered 502: <h1>x{296}$/);
  answer = (response) => void response.writeHead(307, { location: `${address}/mcp` }).end();
  const moved = await run(LIST, env);
  assert.match(moved.messages[0].error.message, /has answered 307/);
  answer = (response) => void response.destroy();
  const cut = await run(LIST, env);
  assert.deepEqual([cut.messages[0].id, cut.messages[0].error.code], [1, -32000]);
  assert.ok([refused, proxied, moved, cut].every((one) => !JSON.stringify(one).includes(daemon.testKey)));
});

test('fields of a message are repeated in its headers, in Base64 where they must be', async () => {
  asked.length = 0;
  answer = (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0"}');
  const params = { name: 'größe', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
  await run(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }), {
    SERVICE_BASE_URL: SCRIPTED,
  });
  const { headers = {} } = asked[0] ?? {};
  assert.equal((headers as Record<string, unknown>)['mcp-protocol-version'], '2026-07-28');
  assert.equal((headers as Record<string, unknown>)['mcp-method'], 'tools/call');
  assert.equal(
    (headers as Record<string, unknown>)['mcp-name'],
    `=?base64?${Buffer.from('größe').toString('base64')}?=`,
  );
});

test('without a key, without an address, and for a live key without TLS it does not begin', async () => {
  for (const [env, says] of [
    [{ SERVICE_API_KEY: '' }, /set SERVICE_API_KEY/],
    [{ SERVICE_API_KEY: 'a b' }, /set SERVICE_API_KEY/],
    [{ SERVICE_BASE_URL: 'mail.example.com' }, /not an address/],
    [{ SERVICE_BASE_URL: 'ftp://mail.example.com' }, /not an address/],
    [{ SERVICE_BASE_URL: 'https://key@mail.example.com' }, /not an address/],
    [
      { SERVICE_API_KEY: daemon.liveKey, SERVICE_BASE_URL: 'http://mail.example.com' },
      /plain http to another machine/,
    ],
  ] as const) {
    const { code, errors, messages } = await run(LIST, env);
    assert.deepEqual([code, messages], [1, []]);
    assert.match(errors, says);
    assert.ok(!errors.includes(daemon.liveKey));
  }
});
