import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { recordFindings } from '../../src/doctor/store.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';

const dns = zoneDns('mx.postrider.example A 192.0.2.1');
const daemon = await openTestApp({ system: { dns }, env: { POSTRIDER_DNS_SERVERS: '127.0.0.1' } });
const control = await openControlSocket(daemon.app);
after(async () => {
  await control.close();
  await daemon.close();
});

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir });
  const code = await runProgram(['doctor', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('each finding is a line, with another one that says what to do, and a failure is exit code 1', async () => {
  const { code, output, errors } = await run();
  assert.equal(code, 1);
  assert.match(output, /^OK {4}address +mx\.postrider\.example: it leads to 192\.0\.2\.1$/m);
  assert.match(
    output,
    /^FAIL {2}reverse-dns +192\.0\.2\.1: it has no reverse DNS\n +-> set the reverse DNS \(PTR\)/m,
  );
  assert.match(errors, /^error: \d+ of \d+ findings are failures$/m);
  const { findings } = JSON.parse((await run('--json')).output);
  assert.deepEqual(Object.keys(findings[0]), ['check', 'subject', 'level', 'says', 'advice']);
});

test('a check can be silenced by its name alone', async () => {
  assert.equal((await run('--silence', 'reverse-dns')).output, 'Silenced: reverse-dns\n');
  assert.match((await run()).output, /^FAIL {2}reverse-dns .* \(silenced\)$/m);
  assert.equal((await run('--unsilence', 'reverse-dns')).output, 'No check is silenced.\n');
  const unknown = await run('--silence', 'weather');
  assert.equal(unknown.code, 1);
  assert.match(unknown.errors, /there is no check "weather", only disk, memory, clock, /);
});

test('the status shows the counts of the last run with its time, and that there was none', async () => {
  const status = async (...args: string[]) => {
    const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir });
    assert.equal(await runProgram(['status', ...args], terminal), 0);
    return terminal.output;
  };
  assert.match(await status(), /^checks +not run by the daemon yet \(postrider doctor\)$/m);
  const finding = { check: 'disk', subject: '/', level: 'warn', says: 'full', advice: 'free space' } as const;
  const now = Date.parse('2026-11-29T08:00:00Z');
  await daemon.app.db.commit(recordFindings, { checks: ['disk'], findings: [finding], now });
  assert.match(
    await status(),
    /^checks +0 failed, 1 warn at 2026-11-29T08:00:00\.000Z \(postrider doctor\)$/m,
  );
  assert.equal(JSON.parse(await status('--json')).checkedAt, '2026-11-29T08:00:00.000Z');
});

test('a domain that no tenant has is named', async () => {
  await daemon.request('POST', '/v1/domains', { body: { name: 'shop.example' } });
  assert.match(
    (await run('--domain', 'shop.example')).output,
    /^FAIL {2}domains {2}SPF shop\.example: No SPF record/m,
  );
  assert.match(
    (await run('--domain', 'none.example')).errors,
    /^error: No tenant has the domain none\.example$/m,
  );
});
