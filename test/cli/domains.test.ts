import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';

const dns = zoneDns('');
const daemon = await openTestApp({ system: { dns } });
const control = await openControlSocket(daemon.app);
after(async () => {
  await control.close();
  await daemon.close();
});

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir });
  const code = await runProgram(['domain', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('a domain is added, shown with its records, verified and deleted', async () => {
  const added = await run('add', 'Shop.Example', '--product-type', 'both');
  assert.equal(added.code, 0, added.errors);
  assert.match(added.output, /^Domain dom_\w+ shop\.example of default is pending$/m);
  assert.match(
    added.output,
    /^SPF +pending +TXT +shop\.example +v=spf1 include:_spf\.mx\.postrider\.example ~all$/m,
  );
  assert.match(added.output, /^RETURN_PATH +pending \(optional\) +CNAME +bounce\.shop\.example /m);
  assert.match(
    added.output,
    /^SRV +pending \(optional\) +SRV +_imaps\._tcp\.shop\.example +0 1 \d+ mx\.postrider\.example$/m,
  );
  const { records } = JSON.parse((await run('show', 'shop.example', '--json')).output);
  const zone = (
    records as { name: string; type: string; value: string; alternative?: { type: string; value: string } }[]
  )
    .map((record) => ({ ...record, ...record.alternative }))
    .map(({ name, type, value }) => `${name} ${type} "${value}"`);
  dns.setZone(
    `mx.postrider.example A 192.0.2.1\n_spf.mx.postrider.example TXT "v=spf1 -all"\n${zone.join('\n')}`,
  );
  assert.match((await run('verify', 'shop.example')).output, /is verified$/m);
  assert.match(
    (await run('list', '--status', 'verified')).output,
    /^dom_\w+ +shop\.example +verified +both +default /m,
  );
  const deleted = await run('delete', 'shop.example', '--yes');
  assert.match(deleted.output, /^Deleted dom_\w+ shop\.example$/m);
  assert.match((await run('show', 'shop.example')).errors, /^error: Domain (?:was )?not found/m);
  assert.equal((await run('list')).output, 'No domains yet.\n');
});

test('what is wrong with a record is said below the table', async () => {
  await run('add', 'wrong.example');
  dns.setZone('wrong.example TXT "v=spf1 -all"');
  const { output } = await run('verify', 'wrong.example');
  assert.match(output, /^SPF: The SPF record must hold include:_spf\.mx\.postrider\.example/m);
  assert.equal((await run('delete', 'wrong.example')).code, 2);
});

test('with several tenants the owner is named, and a domain of two tenants needs the name of one', async () => {
  await daemon.addTenant('acme');
  assert.match(
    (await run('add', 'two.example')).errors,
    /`tenant` must name one of the tenants \(--tenant\)/,
  );
  for (const tenant of ['acme', 'default'])
    assert.equal((await run('add', 'two.example', '--tenant', tenant)).code, 0);
  assert.match((await run('show', 'two.example')).errors, /several tenants have two\.example/);
  const one = JSON.parse((await run('show', 'two.example', '--tenant', 'acme', '--json')).output);
  assert.notEqual(one.tenantId, daemon.tenantId);
  assert.equal(JSON.parse((await run('show', one.id, '--json')).output).id, one.id);
  assert.equal(JSON.parse((await run('list', '--tenant', 'acme', '--json')).output).length, 1);
});
