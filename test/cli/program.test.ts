import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { parse } from 'yaml';
import { runProgram } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

/** A daemon's half that commands talk to; opening a database for every command would take most of the time. */
const daemon = await openTestApp();
const control = await openControlSocket(daemon.app);
after(async () => {
  await control.close();
  await daemon.close();
});

function emptyDirectory(): string {
  return temporaryDirectory('cli');
}

/** Runs one command; `value` is its JSON. */
async function runIn(directory: string, ...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: directory });
  const code = await runProgram(args, terminal);
  const value = args.includes('--json') && code === 0 ? JSON.parse(terminal.output) : undefined;
  return { code, value, output: terminal.output, errors: terminal.errors };
}

function run(...args: string[]) {
  return runIn(daemon.dataDir, ...args);
}

test('opens the database itself when no daemon runs, and leaves it to the next', async () => {
  const directory = emptyDirectory();
  assert.equal((await runIn(directory, 'tenant', 'list')).output, 'No tenants yet.\n');
  const made = await runIn(directory, 'tenant', 'create', 'acme', '--plan', 'free', '--json');
  assert.match(made.value.id, /^ten_/);
  assert.deepEqual((await runIn(directory, 'tenant', 'list', '--json')).value, [made.value]);
  const refused = await runIn(directory, 'tenant', 'create', 'acme', '--json');
  assert.deepEqual([refused.code, refused.output], [1, '']);
  assert.equal(refused.errors, 'error: A tenant named "acme" exists already\n');
});

test('talks to the running daemon, which holds the lock', async () => {
  const tenants = await run('tenant', 'list', '--json');
  assert.ok(tenants.value.some(({ id }: { id: string }) => id === daemon.tenantId));
  const refused = await run('tenant', 'create', 'default');
  assert.deepEqual([refused.code, refused.output], [1, '']);
  assert.equal(refused.errors, 'error: A tenant named "default" exists already\n');
});

test('a directory that is locked by a daemon without a socket is one line', async () => {
  const { dataDir, close } = await openTestApp();
  const locked = await runIn(dataDir, 'tenant', 'list');
  await close();
  assert.equal(locked.code, 1);
  assert.equal(locked.errors, `error: another Postrider process is using ${dataDir}\n`);
});

test('makes and lists keys; the token is shown once', async () => {
  await run('tenant', 'create', 'acme');
  const create = ['key', 'create', '--tenant', 'acme', '--mode', 'live', '--name', 'shop', '--json'];
  const key = await run(...create, '--permission', 'sending_access', '--expires-at', '2040-01-01T00:00:00Z');
  assert.match(key.value.token, /^svc_prd_\w{40}$/);
  assert.equal(key.value.permission, 'sending_access');
  assert.equal(key.value.expiresAt, '2040-01-01T00:00:00.000Z');
  const listed = await run('key', 'list', '--tenant', 'acme', '--json');
  assert.deepEqual(
    listed.value.map(({ id }: { id: string }) => id),
    [key.value.id],
  );
  assert.equal('token' in listed.value[0], false);
});

test('makes keys that are limited to a domain and to addresses', async () => {
  await daemon.request('POST', '/v1/domains', { body: { name: 'shop.example' } });
  const create = [
    ...['key', 'create', '--tenant', 'default', '--mode', 'live', '--name', 'limited'],
    ...['--permission', 'read_only', '--json'],
  ];
  const limits = ['--domain', 'shop.example', '--allow-ip', '192.0.2.7', '--allow-ip', '2001:db8::/32'];
  const made = await run(...create, ...limits);
  assert.match(made.value.domainId, /^dom_/);
  assert.deepEqual(made.value.allowedIps, ['192.0.2.7', '2001:db8::/32']);
  assert.match(
    (await run('key', 'list')).output,
    /^key_\w+ +limited +live +read_only +shop\.example +192\.0\.2\.7 2001:db8::\/32 +none +\w{8} /m,
  );
  const foreign = await run(...create, '--domain', 'other.example');
  assert.match(foreign.errors, /^error: .*`domain` is not a domain of the tenant/);
  const refused = await run(...create, '--allow-ip', 'everywhere');
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /allowedIps\[0\]/);
});

test('puts a tenant on another plan', async () => {
  await run('tenant', 'create', 'mover');
  const moved = await run('tenant', 'set-plan', 'mover', 'free');
  assert.match(moved.output, /^Tenant ten_\w+ "mover" is on plan free\n$/);
  assert.match((await run('tenant', 'list')).output, /^ten_\w+ +mover +free /m);
  assert.equal((await run('tenant', 'set-plan', 'mover', 'gold')).code, 1);
});

test('makes plans and changes one limit of them', async () => {
  const set = ['plan', 'set', 'small', '--json', '--monthly-emails'];
  const made = await run(...set, '100', '--requests-per-second', '2');
  const small = { name: 'small', monthlyEmails: 100, requestsPerSecond: 2, storedMegabytes: null, weight: 1 };
  assert.deepEqual(made.value, small);
  const changed = await run(...set, 'none');
  assert.deepEqual(changed.value, { ...small, monthlyEmails: null });
  const limited = await run(...set.slice(0, 4), '--stored-megabytes', '500');
  assert.deepEqual(limited.value, { ...small, monthlyEmails: null, storedMegabytes: 500 });
  const weighted = await run(...set.slice(0, 4), '--weight', '5');
  assert.deepEqual(weighted.value, { ...small, monthlyEmails: null, storedMegabytes: 500, weight: 5 });
  assert.match((await run('plan', 'list')).output, /^NAME .*WEIGHT$.*^small +none +2 +500 +5$/ms);
  const plans = await run('plan', 'list', '--json');
  assert.ok(plans.value.some(({ name }: { name: string }) => name === 'small'));
});

test('commands print tables unless JSON is requested', async () => {
  const [heading, row] = (await run('tenant', 'list')).output.split('\n');
  assert.match(heading ?? '', /^ID +NAME +PLAN +STATUS +CREATED$/);
  assert.match(row ?? '', /^ten_\w{26} +default +unlimited +active +\d{4}-\d\d-\d\dT/);
  assert.match((await run('plan', 'list')).output, /^free +3000 +5 +none +1$/m);
  const create = ['key', 'create', '--tenant', 'default', '--permission', 'full_access'];
  const made = await run(...create, '--mode', 'test', '--name', 'x y');
  assert.match(
    made.output,
    /^Key key_\w+ "x y" \(test, full_access\); its token is shown only once:\nsvc_dev_\w{40}\n$/,
  );
  assert.match(
    (await run('key', 'list')).output,
    /^key_\w+ +x y +test +full_access +any +any +none +\w{8} +default +never +valid$/m,
  );
});

test('a key is revoked only when that is certain', async () => {
  const { value } = await run(
    'key',
    'create',
    '--tenant',
    'default',
    '--mode',
    'test',
    '--permission',
    'read_only',
    '--name',
    'old',
    '--json',
  );
  const isRevoked = async () => {
    const keys = (await run('key', 'list', '--json')).value as { id: string; revokedAt: string | null }[];
    return keys.find(({ id }) => id === value.id)?.revokedAt !== null;
  };
  const silent = await run('key', 'revoke', value.id);
  assert.deepEqual([silent.code, silent.errors], [2, 'error: this cannot be undone: add --yes\n']);
  const asked = async (answer: string) => {
    const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir }, { interactive: true, answer });
    return runProgram(['key', 'revoke', value.id], terminal);
  };
  assert.equal(await asked('n'), 2);
  assert.equal(await isRevoked(), false);
  assert.equal(await asked('y'), 0);
  assert.equal(await isRevoked(), true);
  assert.equal((await run('key', 'revoke', value.id, '--yes')).code, 0);
  assert.equal((await run('key', 'revoke', 'key_none', '--yes')).code, 1);
});

test('wrong usage ends with 2 and says how to go on', async () => {
  const wrong = [
    ['frobnicate'],
    ['tenant', 'create'],
    ['key', 'create', '--tenant', 'x', '--name', 'x', '--permission', 'full_access', '--mode', 'alive'],
    ['key', 'create', '--tenant', 'default', '--name', 'x', '--mode', 'test'],
    ['plan', 'set', 'free', '--monthly-emails', 'many'],
    ['plan', 'set', 'new', '--monthly-emails', '5'],
    ['dev', '--config', 'x.yaml'],
    ['tenant', 'list', '--jsn'],
  ];
  for (const args of wrong) {
    const { code, errors, output } = await run(...args);
    assert.deepEqual([code, output], [2, ''], args.join(' '));
    assert.match(errors, /^error: /, args.join(' '));
  }
});

test('help and version end with 0', async () => {
  const help = await run('--help');
  assert.equal(help.code, 0);
  for (const name of ['serve', 'dev', 'demo', 'tenant', 'plan', 'key', 'config', 'version']) {
    assert.match(help.output, new RegExp(`^  ${name}\\b`, 'm'));
  }
  assert.match((await run('key', 'create', '--help')).output, /--config <file>/);
  assert.match((await run('--version')).output, /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual(Object.keys((await run('version', '--json')).value), ['postrider', 'node']);
});

test('a wrong configuration and a newer database are one line', async () => {
  const directory = emptyDirectory();
  const terminal = fakeTerminal({ POSTRIDER_HTTP_PORT: 'x' });
  assert.equal(await runProgram(['tenant', 'list'], terminal), 1);
  assert.match(terminal.errors, /^error: POSTRIDER_HTTP_PORT: "http\.port" .+\n$/);

  const file = join(directory, 'broken.yaml');
  writeFileSync(file, 'hostname: "open');
  const broken = await runIn(directory, 'config', 'show', '--config', file);
  assert.equal(broken.code, 1);
  assert.match(broken.errors, /^error: \/.+broken\.yaml: .+\n$/);

  await runIn(directory, 'tenant', 'list');
  const database = new Sqlite(join(directory, 'postrider.db'));
  database.prepare('INSERT INTO migrations (id, appliedAt) VALUES (?, 0)').run('9999-future');
  database.close();
  const newer = await runIn(directory, 'tenant', 'list');
  assert.equal(newer.code, 1);
  assert.match(newer.errors, /^error: the database has migration "9999-future".+newer version\n$/);
});

test('shows the configuration in effect', async () => {
  const directory = emptyDirectory();
  const file = join(directory, 'config.yaml');
  writeFileSync(file, 'hostname: mail.example.com\n');
  const shown = await runIn(directory, 'config', 'show', '--config', file, '--json');
  assert.equal(shown.value.hostname, 'mail.example.com');
  assert.equal(shown.value.dataDir, directory);
  assert.equal('faults' in shown.value, false);
  assert.deepEqual(parse((await runIn(directory, 'config', 'show', '--config', file)).output), shown.value);
});

test('the example configuration is the one in config/, and is what the defaults are', async () => {
  const { output } = await run('config', 'example');
  assert.equal(readFileSync(new URL('../../config/postrider.example.yaml', import.meta.url), 'utf8'), output);

  const file = join(emptyDirectory(), 'all.yaml');
  writeFileSync(file, output.replace(/^#(?=\S| {2})/gm, ''));
  const { hostname, ...inFile } = loadConfig({ file, env: {} });
  assert.equal(hostname, 'mail.example.com');
  const { hostname: _, ...defaults } = loadConfig({ env: {} });
  // Without a configuration file, the daemon serves this machine alone, at ports that need no privileges.
  const https = { ...defaults.https, address: '::', port: 443, redirectPort: 80 };
  const smtp = { ...defaults.smtp, address: '::', port: 25 };
  const imap = { ...defaults.imap, address: '::', port: 993, starttlsPort: 143 };
  const pop3 = { ...defaults.pop3, address: '::', port: 995, starttlsPort: 110 };
  const managesieve = { ...defaults.managesieve, address: '::', port: 4190 };
  const submission = { ...defaults.submission, address: '::', tlsPort: 465, port: 587 };
  const { dataDir, sources } = inFile;
  const ofFile = { dataDir, development: false, dataDirIsDefault: false, file, sources };
  assert.deepEqual(inFile, { ...defaults, ...ofFile, https, smtp, imap, pop3, managesieve, submission });
});
