import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';

const dns = zoneDns('mx.postrider.example A 192.0.2.1');
const daemon = await openTestApp({ system: { dns } });
const control = await openControlSocket(daemon.app);
after(async () => {
  await control.close();
  await daemon.close();
});

async function runDomain(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir });
  const code = await runProgram(['domain', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

const run = (...args: string[]) => runDomain('records', ...args);

test('a domain is verified once its owner has published its records and the operator what is printed', async () => {
  const { body: domain } = await daemon.request('POST', '/v1/domains', { body: { name: 'shop.example' } });
  const owner = (domain.records as { name: string; type: string; value: string }[])
    .map(({ name, type, value }) => `${name} ${type} "${value}"`)
    .join('\n');
  const status = async (zone: string) => {
    dns.setZone(zone);
    return (await daemon.request('POST', `/v1/domains/${domain.id}/verify`)).body.status;
  };
  const { code, output, errors } = await run('--zone');
  assert.deepEqual([code, errors], [0, '']);
  assert.equal(await status(owner), 'pending');
  assert.equal(await status(`${owner}\n${output}`), 'verified');
});

test('--check shows what DNS has instead of each record, and fails until all are published', async () => {
  const { output: zone } = await run('--zone');
  const published = zone.replaceAll(/\*\._report/g, 'postrider-probe._report');
  dns.setZone(published);
  const complete = await run('--check');
  assert.deepEqual([complete.code, complete.errors], [0, ''], complete.output);
  assert.match(
    complete.output,
    /^published +MX +bounce\.mx\.postrider\.example +10 mx\.postrider\.example$/m,
  );
  const keys = complete.output.split('\n').filter((line) => line.includes('v=DKIM1'));
  assert.ok(
    keys.length > 0 && keys.every((line) => /v=DKIM1; .{50}…$/.test(line.trimEnd())),
    keys.join('\n'),
  );

  const lines = published.split('\n').filter((line) => !line.startsWith('_smtp._tls.mx.'));
  dns.setZone(lines.join('\n').replace('MX 10 mx.postrider.example.', 'MX 10 old.example.'));
  dns.fail('track.mx.postrider.example', 'ESERVFAIL');
  const wrong = await run('--check');
  dns.heal('track.mx.postrider.example');
  assert.equal(wrong.code, 1);
  assert.match(wrong.output, /^different +MX +bounce\.mx\S+ +10 mx\.postrider\.example +10 old\.example$/m);
  assert.match(wrong.output, /^missing +TXT +_smtp\._tls\.mx\.postrider\.example +v=TLSRPTv1/m);
  assert.match(wrong.output, /^unknown +CNAME +track\.mx\S+ +mx\.postrider\.example +ESERVFAIL$/m);
  assert.match(wrong.errors, /^error: 3 of \d+ records are not published as they should be$/m);
  assert.equal((await run('--check', '--zone')).code, 2);
});

test('records are a table or JSON, and missing records are a warning', async () => {
  dns.setZone('');
  const table = await run();
  assert.equal(table.code, 0);
  assert.match(table.output, /^TYPE +NAME +PURPOSE +VALUE\n/);
  assert.match(
    table.output,
    /^MX +bounce\.mx\.postrider\.example +bounces come back .+ 10 mx\.postrider\.example$/m,
  );
  assert.match(table.errors, /^warning: DNS has no addresses for mx\.postrider\.example/);
  const json = await run('--json');
  assert.deepEqual(Object.keys(JSON.parse(json.output)), ['records', 'warnings']);
});

test('rotate-dkim says what the owner publishes, and that nothing is left to do once the name leads here', async () => {
  const { body: domain } = await daemon.request('POST', '/v1/domains', { body: { name: 'turn.example' } });
  const next = (domain.optionalRecords as { record: string; name: string; value: string }[]).find(
    ({ record }) => record === 'DKIM_NEXT',
  );
  assert.ok(next);
  const first = await runDomain('rotate-dkim', 'turn.example');
  assert.equal(first.code, 0, first.errors);
  assert.ok(
    first.output.includes(`The next RSA key of turn.example has the selector ${next.name.split('.')[0]}`),
  );
  assert.match(first.output, new RegExp(`^CNAME +${next.name} +${next.value}$`, 'm'));
  assert.match(first.output, new RegExp(`^TXT +${next.name} +v=DKIM1; k=rsa; p=`, 'm'));

  dns.setZone(`${next.name} CNAME ${next.value}`);
  assert.equal((await runDomain('verify', 'turn.example')).code, 0);
  const second = await runDomain('rotate-dkim', 'turn.example');
  assert.match(
    second.output,
    /Its record leads here already, so the owner of the domain has nothing to publish/,
  );
  assert.doesNotMatch(second.output, /^(?:CNAME|TXT) /m);
});

test('a domain is added with Ed25519 when that is asked for', async () => {
  const { code, output } = await runDomain('add', 'curve.example', '--ed25519');
  assert.equal(code, 0);
  assert.match(output, /^DKIM_ED25519 +pending \(optional\) +CNAME +pr\w+\._domainkey\.curve\.example /m);
});
