/** The calls that the reference page shows: they are current, and each asks what its example says. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Postrider } from '../../sdk/node/src/index.ts';
import { readDocument, readOperations } from '../../sdk/tools/openapi.ts';
import { currentSamples, SAMPLES_FILE, type Sample } from '../../sdk/tools/samples.ts';

const stored = readFileSync(SAMPLES_FILE, 'utf8');
const samples = JSON.parse(stored) as Record<string, readonly Sample[]>;
const document = await readDocument();
const ids = readOperations().map(({ id }) => id);

function sourceOf(id: string, label: string): string {
  const sample = samples[id]?.find((one) => one.label === label);
  assert.ok(sample, `${id} with ${label}`);
  return sample.source;
}

/** Returns why a test cannot run: a program is not there, or cannot run what is asked of it. */
function lacks(program: string, args: readonly string[]): string | false {
  const { error, status } = spawnSync(program, args, { input: '' });
  return (error !== undefined || (status !== 0 && status !== 2)) && `${program} does not run here`;
}

test('the calls are those of the document, which shows them', async () => {
  assert.ok(
    stored === (await currentSamples()),
    'run `node --import ./bin/typescript.ts sdk/tools/samples.ts`',
  );
  assert.deepEqual(Object.keys(samples), ids);
  const labels = ['curl', 'Node.js', 'Python', 'Go', 'PHP'];
  for (const own of Object.values(samples))
    assert.deepEqual(
      own.map(({ label }) => label),
      labels,
    );
  const sendEmail = document.paths['/v1/emails']?.['post'];
  assert.deepEqual((sendEmail as unknown as Record<string, unknown>)['x-codeSamples'], samples['sendEmail']);
});

type Asked = { method: string | undefined; path: string; body: string };

const EMPTY_PAGE = '{"data":[],"hasMore":false,"nextCursor":null}';

/** Runs a program with all calls of a language against a server that answers everything, and returns the requests. */
async function requestsOf(run: (baseUrl: string) => Promise<void>): Promise<Asked[]> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://localhost').pathname;
    const body = (await buffer(request)).toString();
    asked.push({ method: request.method, path, body });
    response.setHeader('content-type', 'application/json').end(EMPTY_PAGE);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return asked;
  } finally {
    server.close();
  }
}

/** Checks that each request is that of its operation, with the body of the example. */
function checkRequests(asked: readonly Asked[]): void {
  const operations = readOperations();
  assert.equal(asked.length, operations.length);
  for (const [index, { id, method, path }] of operations.entries()) {
    const request = asked[index];
    const pattern = path.replace(/\{\w+\}/g, '[^/]+');
    assert.match(`${request?.method} ${request?.path}`, new RegExp(`^${method} ${pattern}$`), id);
    const content = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content;
    const example = content?.['application/json']?.example;
    if (example !== undefined) assert.deepEqual(JSON.parse(request?.body ?? ''), example, id);
  }
}

test('each call with curl names the path and the body of its operation', () => {
  const asked = ids.map((id): Asked => {
    const source = sourceOf(id, 'curl');
    const [, path = ''] = /^curl "\$SERVICE_BASE_URL(.+?)"/.exec(source) ?? [];
    const [, body = ''] = /--data-binary '(.*)'$/s.exec(source) ?? [];
    const [, method = body === '' ? 'GET' : 'POST'] = /-X (\w+)/.exec(source) ?? [];
    return { method, path, body: body.replaceAll("'\\''", "'") };
  });
  checkRequests(asked);
});

test('each call with the library for Node.js makes the request of its example', async () => {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const asked = await requestsOf(async (baseUrl) => {
    const postrider = new Postrider({ key: 'svc_dev_x', baseUrl });
    for (const id of ids)
      await new AsyncFunction('postrider', 'console', sourceOf(id, 'Node.js'))(postrider, { log() {} });
  });
  checkRequests(asked);
});

/** Runs a program in another language. */
async function runProgram(program: string, args: readonly string[], baseUrl: string): Promise<void> {
  const env = { ...ENVIRONMENT, SERVICE_API_KEY: 'svc_dev_x', SERVICE_BASE_URL: baseUrl };
  await promisify(execFile)(program, args, { cwd: SDK, env });
}

const SDK = fileURLToPath(new URL('../../sdk/', import.meta.url));
const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  PYTHONPATH: 'python/src',
  PYTHONDONTWRITEBYTECODE: '1',
};

test('each call with the library for Python does', { skip: lacks('python3', ['-c', '']) }, async () => {
  const calls = ids.map((id) => sourceOf(id, 'Python'));
  const program = ['from postrider import Client', 'client = Client()', ...calls].join('\n');
  checkRequests(await requestsOf((baseUrl) => runProgram('python3', ['-c', program], baseUrl)));
});

test('each call with the library for PHP does', {
  skip: lacks('php', ['-r', 'curl_version();']),
}, async () => {
  const calls = ids.map((id) => sourceOf(id, 'PHP'));
  const program = ["require 'php/autoload.php';", '$postrider = new Postrider\\Client();', ...calls].join(
    '\n',
  );
  checkRequests(await requestsOf((baseUrl) => runProgram('php', ['-r', program], baseUrl)));
});

test('the calls with the library for Go are Go', { skip: lacks('gofmt', ['-h']) }, () => {
  const blocks = ids.map((id) => `{\n${sourceOf(id, 'Go')}\n}`).join('\n');
  const { status, stderr } = spawnSync('gofmt', ['-e'], { input: `package p\n\nfunc f() {\n${blocks}\n}\n` });
  assert.equal(status, 0, stderr.toString());
});
