/** `postrider route`: the operator sets routes of outgoing mail, and no other line of the output has a password. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { PASSWORD, startRelay, USER } from '../outbound-routes/relay-server.ts';
import { execute } from '../support/execute.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { dialHosts, type Hosts } from '../support/loopback.ts';
import { openTestApp } from '../support/test-app.ts';
import { TRUSTED_HOST } from '../support/trusted-certificate.ts';
import { zoneDns } from '../support/zone-dns.ts';

const hosts: Hosts = {};
const dns = zoneDns(`${TRUSTED_HOST} A 192.0.2.1`);
const world = await openTestApp({ system: { dns, dial: dialHosts(hosts) } });
const control = await openControlSocket(world.app);
after(async () => {
  await control.close();
  await world.close();
});

async function run(args: string[], line = '') {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: world.dataDir }, { input: line });
  const code = await runProgram(['route', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

const cells = (output: string) =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

test('routes are set, listed without their passwords, and removed', async () => {
  assert.match((await run(['list'])).output, /^No routes: /);
  const login = ['--user', USER, '--recipients-per-minute', '840', '--connections', '5'];
  const set = await run(['set', 'provider', '--relay', 'a.example, b.example', ...login], PASSWORD);
  assert.equal(set.code, 0, set.errors);
  const partner = ['--mx', '--domain', 'Partner.example', '--tenant', 'default'];
  await run(['set', 'partner', ...partner, '--tls-policy', 'required-verified']);
  const listed = await run(['list']);
  assert.ok(!`${set.output}${listed.output}`.includes(PASSWORD));
  assert.deepEqual(cells(listed.output).slice(1), [
    ['partner', 'default', 'partner.example', 'MX hosts (TLS required-verified)', 'stored'],
    [
      ...['provider', 'all', 'all', 'a.example, b.example port 587 (starttls)', USER],
      ...['5 connections, 840 recipients/min', 'stored'],
    ],
  ]);
  assert.equal((await run(['remove', 'partner'])).output, 'Removed the route partner\n');
  assert.deepEqual(await run(['remove', 'partner']), {
    code: 1,
    output: '',
    errors: 'error: Route not found\n',
  });
});

test('the list has all pages, however many routes there are', async () => {
  const names = Array.from({ length: 1_001 }, (_, index) => `many-${1_000 + index}`);
  execute(
    world,
    `INSERT INTO outboundRoutes (name, domain, port, tls, isPrivate, createdAt, updatedAt)
       SELECT value, value || '.example', 587, 'starttls', 0, 0, 0 FROM json_each('${JSON.stringify(names)}')`,
  );
  const listed = JSON.parse((await run(['list', '--json'])).output);
  assert.deepEqual(
    listed.map(({ name }: { name: string }) => name),
    [...names, 'provider'],
  );
  execute(world, `DELETE FROM outboundRoutes WHERE name LIKE 'many-%'`);
});

test('a route that is not valid is refused, and nothing is stored', async () => {
  const file = join(world.dataDir, 'no-certificate.pem');
  writeFileSync(file, '');
  for (const [args, reason] of [
    [['--relay', 'smtp.example:587'], /"smtp\.example:587" is not the name or the address of a host/],
    [['--relay', 'a.example', '--user', 'me'], /password/],
    [['--relay', 'a.example', '--tenant', 'nobody'], /Tenant not found/],
    [['--relay', 'a.example', '--domain', 'not a domain'], /"not a domain" is not a domain/],
    [['--relay', 'a.example', '--ca-file', file], /`ca`/],
    [['--relay', 'a.example'], /^error: The route "provider" is for the same mail already/],
    [['--mx', '--port', '25'], /"port" needs "hosts"/],
    [[], /^error: give either --relay or --mx/],
  ] as const) {
    const { code, errors } = await run(['set', 'other', ...args]);
    assert.notEqual(code, 0, args.join(' '));
    assert.match(errors, reason);
  }
  assert.equal(cells((await run(['list'])).output).length, 2);
});

test('a check logs in without sending mail, and fails with the reason', async () => {
  const relay = await startRelay();
  after(() => relay.close());
  hosts['192.0.2.1'] = relay.port;
  const set = (password: string) =>
    run(['set', 'provider', '--relay', TRUSTED_HOST, '--user', USER], password);
  await set(PASSWORD);
  const good = await run(['check', 'provider']);
  assert.equal(good.code, 0, good.errors);
  assert.deepEqual(cells(good.output)[1], ['OK', TRUSTED_HOST, '192.0.2.1', 'TLSv1.3']);
  await set('wrong one');
  const bad = await run(['check', 'provider']);
  assert.deepEqual([bad.code, relay.logins.length, relay.messages.length], [1, 2, 0]);
  assert.match(bad.output, /^FAIL .*auth: 535 5\.7\.8 \*\*\* is wrong/m);
});

test('the probe says what to do when DNS names no servers', async () => {
  assert.match((await run(['probe'])).output, /^IPv4: unknown, IPv6: unknown\. DNS named no servers/);
});
