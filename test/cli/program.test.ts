import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { parse } from 'yaml';
import { runProgram } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

function dataDir(): string {
  return mkdtempSync(join(tmpdir(), 'postrider-cli-'));
}

/** Runs one command; `value` is its JSON. */
async function run(directory: string, ...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: directory });
  const code = await runProgram(args, terminal);
  const value = args.includes('--json') && code === 0 ? JSON.parse(terminal.output) : undefined;
  return { code, value, output: terminal.output, errors: terminal.errors };
}

test('makes and lists tenants, plans and keys on the database itself when no daemon runs', async () => {
  const directory = dataDir();
  const tenant = await run(directory, 'tenant', 'create', 'acme', '--plan', 'free', '--json');
  assert.match(tenant.value.id, /^ten_/);
  assert.deepEqual([tenant.value.name, tenant.value.plan], ['acme', 'free']);

  const create = ['key', 'create', '--tenant', 'acme', '--mode', 'live', '--name', 'shop', '--json'];
  const key = await run(directory, ...create, '--permission', 'sending_access');
  assert.match(key.value.token, /^svc_prd_/);
  assert.equal(key.value.permission, 'sending_access');

  const listed = await run(directory, 'key', 'list', '--tenant', 'acme', '--json');
  assert.deepEqual(
    listed.value.map(({ id }: { id: string }) => id),
    [key.value.id],
  );
  assert.equal('token' in listed.value[0], false);

  const plan = await run(
    directory,
    'plan',
    'set',
    'small',
    '--monthly-emails',
    '100',
    '--requests-per-second',
    'none',
    '--json',
  );
  assert.deepEqual(plan.value, { name: 'small', monthlyEmails: 100, requestsPerSecond: null });
  const changed = await run(directory, 'plan', 'set', 'small', '--monthly-emails', 'none', '--json');
  assert.deepEqual(changed.value, { name: 'small', monthlyEmails: null, requestsPerSecond: null });
  const plans = await run(directory, 'plan', 'list', '--json');
  assert.deepEqual(
    plans.value.map(({ name }: { name: string }) => name),
    ['free', 'small', 'unlimited'],
  );
});

test('tables are for people', async () => {
  const directory = dataDir();
  assert.equal((await run(directory, 'tenant', 'list')).output, 'No tenants yet.\n');
  await run(directory, 'tenant', 'create', 'acme');
  const [heading, row] = (await run(directory, 'tenant', 'list')).output.split('\n');
  assert.match(heading ?? '', /^ID +NAME +PLAN +CREATED$/);
  assert.match(row ?? '', /^ten_\w{26} +acme +unlimited +\d{4}-\d\d-\d\dT/);
  assert.match((await run(directory, 'plan', 'list')).output, /free +3000 +5\nunlimited +none +none\n/);
  const made = await run(directory, 'key', 'create', '--tenant', 'acme', '--mode', 'test', '--name', 'x');
  assert.match(made.output, /shown once:\nsvc_dev_\w{40}\n$/);
  assert.match((await run(directory, 'key', 'list')).output, /^ID +NAME.*\nkey_\w+ +x +test +full_access +/);
});

test('talks to the running daemon, which holds the lock', async () => {
  const { app, dataDir: directory, tenantId, close } = await openTestApp();
  const control = await openControlSocket(app);
  const tenants = await run(directory, 'tenant', 'list', '--json');
  assert.deepEqual(
    tenants.value.map(({ id }: { id: string }) => id),
    [tenantId],
  );
  assert.equal((await run(directory, 'tenant', 'create', 'second', '--json')).code, 0);
  const twice = await run(directory, 'tenant', 'create', 'second', '--json');
  assert.deepEqual([twice.code, twice.output], [1, '']);
  assert.equal(twice.errors, 'error: A tenant named "second" exists already\n');
  await control.close();

  const locked = await run(directory, 'tenant', 'list');
  assert.equal(locked.code, 1);
  assert.equal(locked.errors, `error: another Postrider process is using ${directory}\n`);
  await close();
});

test('a key is revoked only when that is certain', async () => {
  const directory = dataDir();
  await run(directory, 'tenant', 'create', 'acme');
  const { value } = await run(
    directory,
    'key',
    'create',
    '--tenant',
    'acme',
    '--mode',
    'test',
    '--name',
    'x',
    '--json',
  );
  const state = async () => (await run(directory, 'key', 'list', '--json')).value[0].revokedAt;

  const silent = await run(directory, 'key', 'revoke', value.id);
  assert.deepEqual([silent.code, silent.errors], [2, 'error: this cannot be undone: add --yes\n']);
  const asked = async (answer: string) => {
    const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: directory }, { interactive: true, answer });
    return runProgram(['key', 'revoke', value.id], terminal);
  };
  assert.equal(await asked('n'), 2);
  assert.equal(await state(), null);
  assert.equal(await asked('y'), 0);
  assert.notEqual(await state(), null);
  assert.equal((await run(directory, 'key', 'revoke', value.id, '--yes')).code, 0);
  assert.equal((await run(directory, 'key', 'revoke', 'key_none', '--yes')).code, 1);
});

test('wrong usage ends with 2 and says how to go on', async () => {
  const directory = dataDir();
  const wrong = [
    ['frobnicate'],
    ['tenant', 'create'],
    ['key', 'create', '--tenant', 'x', '--name', 'x', '--mode', 'alive'],
    ['plan', 'set', 'free', '--monthly-emails', 'many'],
    ['plan', 'set', 'new', '--monthly-emails', '5'],
    ['dev', '--config', 'x.yaml'],
    ['tenant', 'list', '--jsn'],
  ];
  for (const args of wrong) {
    const { code, errors, output } = await run(directory, ...args);
    assert.deepEqual([code, output], [2, ''], args.join(' '));
    assert.match(errors, /^error: /, args.join(' '));
  }
});

test('help and version end with 0', async () => {
  const help = await run(dataDir(), '--help');
  assert.equal(help.code, 0);
  for (const name of ['serve', 'dev', 'demo', 'tenant', 'plan', 'key', 'config', 'version']) {
    assert.match(help.output, new RegExp(`^  ${name}\\b`, 'm'));
  }
  assert.match((await run(dataDir(), 'key', 'create', '--help')).output, /--config <file>/);
  assert.match((await run(dataDir(), '--version')).output, /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual(Object.keys((await run(dataDir(), 'version', '--json')).value), ['postrider', 'node']);
});

test('a wrong configuration and a newer database are one line', async () => {
  const directory = dataDir();
  const terminal = fakeTerminal({ POSTRIDER_HTTP_PORT: 'x' });
  assert.equal(await runProgram(['tenant', 'list'], terminal), 1);
  assert.match(terminal.errors, /^error: POSTRIDER_HTTP_PORT: "http\.port" .+\n$/);

  const file = join(directory, 'broken.yaml');
  writeFileSync(file, 'hostname: "open');
  const broken = await run(directory, 'config', 'show', '--config', file);
  assert.equal(broken.code, 1);
  assert.match(broken.errors, /^error: \/.+broken\.yaml: .+\n$/);

  await run(directory, 'tenant', 'list');
  const database = new Sqlite(join(directory, 'postrider.db'));
  database.prepare('INSERT INTO migrations VALUES (?, 0)').run('9999-future');
  database.close();
  const newer = await run(directory, 'tenant', 'list');
  assert.equal(newer.code, 1);
  assert.match(newer.errors, /^error: the database has migration "9999-future".+newer version\n$/);
});

test('shows the configuration in effect', async () => {
  const directory = dataDir();
  const file = join(directory, 'config.yaml');
  writeFileSync(file, 'hostname: mail.example.com\n');
  const shown = await run(directory, 'config', 'show', '--config', file, '--json');
  assert.equal(shown.value.hostname, 'mail.example.com');
  assert.equal(shown.value.dataDir, directory);
  assert.equal('faults' in shown.value, false);
  assert.deepEqual(parse((await run(directory, 'config', 'show', '--config', file)).output), shown.value);
});

test('the example configuration is the one in config/, and is what the defaults are', async () => {
  const { output } = await run(dataDir(), 'config', 'example');
  assert.equal(readFileSync(new URL('../../config/postrider.example.yaml', import.meta.url), 'utf8'), output);

  const file = join(dataDir(), 'all.yaml');
  writeFileSync(file, output.replace(/^#(?=\S| {2})/gm, ''));
  const { dataDir: _, hostname, development: __, ...all } = loadConfig({ file, env: {} });
  assert.equal(hostname, 'mail.example.com');
  const { dataDir: ___, hostname: ____, development: _____, ...defaults } = loadConfig({ env: {} });
  assert.deepEqual(all, defaults);
});
