/** The examples of the README and of the folder run as they are. They need a daemon, as `npm run test:sdks` starts it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { webhooks } from '../src/index.ts';

const folder = process.cwd();
const { CONTRACT_BASE_URL = '', CONTRACT_KEY = '' } = process.env;
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const [first = '', , , verifying = ''] = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(
  ([, code]) => code,
);
const SECRET = 'whsec_example';
const BODY = '{"type":"email.bounced","data":{"to":"b@y.test"}}';

function start(args: readonly string[]) {
  const env = {
    ...process.env,
    SERVICE_BASE_URL: CONTRACT_BASE_URL,
    SERVICE_API_KEY: CONTRACT_KEY,
    SIGNING_SECRET: SECRET,
  };
  return spawn(process.execPath, args, {
    cwd: folder,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function run(args: readonly string[]): Promise<string> {
  const child = start(args);
  let output = '';
  for await (const part of child.stdout) output += part;
  return output;
}

/** Runs a text as a module of this package, which finds the package by its name. */
async function runText(text: string): Promise<string> {
  const file = join(folder, 'examples', `.text-${process.pid}.mjs`);
  writeFileSync(file, text);
  try {
    return await run([file]);
  } finally {
    rmSync(file);
  }
}

if (CONTRACT_BASE_URL !== '') {
  test('the first example of the README sends an email', async () => {
    assert.match(await runText(first), /^em_\w+ queued\n$/);
  });
  test('the examples send, attach and list', async () => {
    assert.match(await run(['examples/send.mjs']), /^em_\w+ delivered$/m);
    assert.match(await run(['examples/attachment.mjs']), /^em_\w+ \w{32}\n$/);
    assert.match(await run(['examples/list.mjs']), /^[1-9]\d* emails$/m);
  });
}

test('the receiver of the README takes an event, and nothing with another signature', async () => {
  const program = `${verifying}
    process.env.SIGNING_SECRET = '${SECRET}';
    const request = (signature) => new Request('http://localhost', { method: 'POST', body: '${BODY}', headers: { 'X-Service-Signature': signature } });
    console.log((await POST(request(await webhooks.sign('${BODY}', '${SECRET}')))).status);
    await POST(request(await webhooks.sign('${BODY}', 'another'))).catch(({ type }) => console.log(type));`;
  assert.match(await runText(program), /^b@y\.test undefined\n204\ninvalid_signature\n$/);
});

test('the receiver of the examples takes an event, and nothing with another signature', async () => {
  const child = start(['examples/receive-webhooks.mjs']);
  const output = child.stdout[Symbol.asyncIterator]();
  try {
    const { value } = await output.next();
    const port = /port: (\d+)/.exec(String(value))?.[1];
    const post = async (secret: string) => {
      const headers = { 'X-Service-Signature': await webhooks.sign(BODY, secret) };
      return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: BODY, headers })).status;
    };
    assert.deepEqual([await post('another'), await post(SECRET)], [400, 204]);
    assert.match(String((await output.next()).value), /^email\.bounced/);
  } finally {
    child.kill();
  }
});
