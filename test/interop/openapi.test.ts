/**
 * Tools of others read the API document: two linters, and a generator whose client must compile. npm installs them into
 * their own folder when this test first runs.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const run = promisify(execFile);
const TOOLS = fileURLToPath(new URL('./openapi', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const INSTALL_MS = 120_000;

/** Uses the generated types like an application: it tells events and refusals apart, and reads their fields. */
const CLIENT = `
import type { components, paths, webhooks } from './api.d.ts';

type Schemas = components['schemas'];
type Delivered = webhooks['email.delivered']['post']['requestBody']['content']['application/json'];
type Event = Delivered | Schemas['EmailBouncedEvent'] | Schemas['ContactCreatedEvent'] | Schemas['DomainFailedEvent'];

export function describe(event: Event): string {
  switch (event.type) {
    case 'email.delivered':
      return event.data.emailId + event.data.delivery.smtpResponse;
    case 'email.bounced':
      return event.data.emailId + event.data.bounce.type + (event.data.bounce.smtpCode ?? 0).toFixed(0);
    case 'contact.created':
      return event.data.email;
    case 'domain.failed':
      return event.data.name;
  }
}

export function existingId(problem: Schemas['Problem']): string | undefined {
  return problem.error.details?.id;
}

export const body: paths['/v1/emails']['post']['requestBody']['content']['application/json'] = {
  from: 'a@example.com', to: ['b@example.com'], subject: 'Hi', text: 'Hi', type: 'transactional',
};
`;

const folder = temporaryDirectory('openapi');
const document = join(folder, 'openapi.json');

before(async () => {
  if (!existsSync(join(TOOLS, 'node_modules/.package-lock.json'))) {
    await run('npm', ['ci', '--ignore-scripts'], { cwd: TOOLS, timeout: INSTALL_MS });
  }
  const testApp = await openTestApp();
  writeFileSync(document, JSON.stringify((await testApp.openServer()).openApi(), null, 1));
  await testApp.close();
});

/** Runs a tool on this process's Node. Resolves with its exit code and its output. */
async function runTool(name: string, args: readonly string[]): Promise<{ code: number; printed: string }> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const program = join(TOOLS, 'node_modules/.bin', name);
  try {
    const { stdout, stderr } = await run(process.execPath, [program, ...args], { env, cwd: folder });
    return { code: 0, printed: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, printed: stdout + stderr };
  }
}

test('Spectral finds no error and no warning', async () => {
  const ruleset = join(TOOLS, 'spectral.yaml');
  const args = ['lint', document, '--ruleset', ruleset, '--fail-severity', 'hint'];
  const { code, printed } = await runTool('spectral', args);
  assert.equal(code, 0, printed);
  assert.match(printed, /No results with a severity of 'hint' or higher found/);
});

test('Redocly finds no error', async () => {
  const { code, printed } = await runTool('redocly', ['lint', document]);
  assert.equal(code, 0, printed);
  assert.match(printed, /Your API description is valid/);
});

test('a client that openapi-typescript generates knows the fields of events and of refusals', async () => {
  const generated = await runTool('openapi-typescript', [document, '-o', join(folder, 'api.d.ts')]);
  assert.equal(generated.code, 0, generated.printed);
  const compile = (file: string, text: string) => {
    writeFileSync(join(folder, file), text);
    const args = ['--noEmit', '--strict', '--allowImportingTsExtensions', '--types', '', join(folder, file)];
    return run(process.execPath, [TSC, ...args], { cwd: folder });
  };
  await compile('client.ts', CLIENT);
  const misspelled = CLIENT.replace('event.data.emailId', 'event.data.mailId');
  // Types that allowed any field would prove nothing.
  await assert.rejects(compile('misspelled.ts', misspelled), ({ stdout }: { stdout: string }) =>
    /Property 'mailId' does not exist/.test(stdout),
  );
});
