import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { connectToDaemon } from '../../../src/cli/control-client.ts';
import { makeAccounts, makeMailbox } from '../../../src/cli/setup/accounts.ts';
import { Report } from '../../../src/cli/setup/report.ts';
import { openSetupLog, type SetupLog } from '../../../src/cli/setup/setup-log.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { openTestApp } from '../../support/test-app.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const EMAIL = 'you@setup.example';
const dns = zoneDns('');
const daemon = await openTestApp({ system: { dns } });
const listener = await openControlSocket(daemon.app);
const control = (await connectToDaemon(daemon.dataDir)) ?? assert.fail('no daemon answers');
after(async () => {
  earlier?.close();
  await control.close();
  await listener.close();
  await daemon.close();
});

/** Log of the run before, whose end frees the lock. */
let earlier: SetupLog | undefined;

/** A run of the step. One that is killed ends before it shows its first secret. */
function begin({ isKilled = false } = {}) {
  const terminal = fakeTerminal();
  earlier?.close();
  const log = openSetupLog(daemon.dataDir);
  earlier = log;
  const report = new Report(terminal, { isJson: false });
  report.attach(log);
  if (isKilled)
    report.showSecret = () => {
      throw new Error('killed');
    };
  return { control, log, report, terminal };
}

async function liveKeys(): Promise<string[]> {
  const keys = await control.request<{ name: string; id: string; revokedAt: string | null }[]>(
    'GET',
    '/keys',
  );
  return keys.flatMap(({ name, id, revokedAt }) => (name === 'setup live' && revokedAt === null ? [id] : []));
}

test('a key whose token was never shown is made again, and one that was shown stays', async () => {
  await assert.rejects(makeAccounts(begin({ isKilled: true }), { domain: 'setup.example' }), /killed/);
  const [lost] = await liveKeys();
  assert.ok(lost);
  const first = begin();
  const { tokens, isNewDomain } = await makeAccounts(first, { domain: 'setup.example' });
  assert.equal(isNewDomain, false);
  assert.deepEqual(Object.keys(tokens), ['live', 'test']);
  assert.ok(first.terminal.output.includes(tokens.live ?? '-'));
  const [kept, ...others] = await liveKeys();
  assert.notEqual(kept, lost);
  assert.deepEqual(others, []);
  const second = await makeAccounts(begin(), { domain: 'setup.example' });
  assert.deepEqual(second.tokens, {});
  assert.deepEqual(await liveKeys(), [kept]);
});

test('a password that was never shown is made again, and that of a mailbox from elsewhere stays', async () => {
  const { domain } = await makeAccounts(begin(), { domain: 'setup.example' });
  dns.setZone(
    domain.records
      .map(({ name, type, value, alternative }) => {
        const record = alternative ?? { name, type, value };
        return `${record.name} ${record.type} "${record.value}"`;
      })
      .join('\n'),
  );
  await control.request('POST', `/domains/${domain.id}/verify`);
  await control.request('POST', '/mailboxes', { address: 'other@setup.example' });
  assert.equal(await makeMailbox(begin(), 'other@setup.example', domain), null);

  await assert.rejects(makeMailbox(begin({ isKilled: true }), EMAIL, domain), /killed/);
  assert.match((await makeMailbox(begin(), EMAIL, domain)) ?? '', /^[a-z0-9-]{20,}$/);
  assert.equal(await makeMailbox(begin(), EMAIL, domain), null);
});

test('a mailbox at a domain for programs alone is not made', async () => {
  const run = begin();
  const domain = { productType: 'api', tenantId: daemon.tenantId } as const;
  assert.equal(await makeMailbox(run, EMAIL, domain), null);
  assert.match(run.terminal.output, /^WARN .*the domain is for programs alone\n +-> change its productType/m);
});

test('the domain of an earlier run is found among thousands of newer ones', async () => {
  const first = await makeAccounts(begin(), { domain: 'setup.example' });
  const database = new Sqlite(join(daemon.dataDir, 'postrider.db'));
  const columns = database.pragma('table_info(domains)') as { name: string }[];
  const values: Readonly<Record<string, string>> = {
    id: "'dom_~' || number",
    name: "'other' || number || '.example'",
  };
  database
    .prepare(
      `INSERT INTO domains (${columns.map(({ name }) => `"${name}"`)})
       WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT 1500)
       SELECT ${columns.map(({ name }) => values[name] ?? `"${name}"`)} FROM domains, numbers WHERE id = ?`,
    )
    .run(first.domain.id);
  database.close();
  const again = await makeAccounts(begin(), { domain: 'setup.example' });
  assert.deepEqual([again.isNewDomain, again.domain.id], [false, first.domain.id]);
});
