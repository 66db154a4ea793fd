import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ControlClient, type ControlMethod, connectToDaemon } from '../../../src/cli/control-client.ts';
import { listRecords, zoneText } from '../../../src/cli/setup/records.ts';
import { Report } from '../../../src/cli/setup/report.ts';
import { waitForRecords } from '../../../src/cli/setup/wait.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import type { OperatorDomain } from '../../../src/domains/admin-api.ts';
import { lines } from '../../doctor/support.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestApp } from '../../support/test-app.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const HOST = 'mx.postrider.example';

/** A running daemon with a domain, and the connection to it. */
async function startDaemon(t: TestContext, env: Record<string, string> = {}) {
  const dns = zoneDns('');
  const opened = await openTestApp({
    system: { dns },
    env: { POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1', ...env },
  });
  const listener = await openControlSocket(opened.app);
  const control = (await connectToDaemon(opened.dataDir)) ?? assert.fail('no daemon answers');
  t.after(async () => {
    await control.close();
    await listener.close();
    await opened.close();
  });
  const body = { name: 'shop.example', productType: 'both', tenant: opened.tenantId };
  const domain = await control.request<OperatorDomain>('POST', '/domains', body);
  return { control, dns, domain, config: opened.app.config };
}

test('the zone has the records of the machine and of the domain, as lines of a zone file', async (t) => {
  const { control, domain, config } = await startDaemon(t);
  const text = zoneText(await listRecords(control, config, domain));
  assert.match(text, /^mx\.postrider\.example\. 3600 IN A 192\.0\.2\.1$/m);
  assert.match(text, /^shop\.example\. 3600 IN TXT "v=spf1 include:_spf\.mx\.postrider\.example ~all"$/m);
  assert.match(text, /^shop\.example\. 3600 IN MX 10 mx\.postrider\.example\.$/m);
  assert.match(text, /^_imaps\._tcp\.shop\.example\. 3600 IN SRV 0 1 \d+ mx\.postrider\.example\.$/m);
  assert.doesNotMatch(text, /TLSA/);
});

test('with the name server, only the delegation and the records of the domain are to be published', async (t) => {
  const { control, domain, config } = await startDaemon(t, { POSTRIDER_NAMESERVER_ENABLED: 'true' });
  const { toPublish, findings } = await listRecords(control, config, domain);
  const ofMachine = toPublish.filter(({ name }) => `.${name}`.endsWith(`.${HOST}`));
  assert.deepEqual([...new Set(ofMachine.map(({ type }) => type))].sort(), ['A', 'NS']);
  assert.ok(toPublish.some(({ name, type }) => type === 'TXT' && name === 'shop.example'));
  assert.match(
    lines(findings)[0] ?? '',
    /^ok mx\.postrider\.example: the name server answers with the \d+ records/,
  );
});

test('records that dynamic updates could not write are left to the operator', async (t) => {
  const key = join(temporaryDirectory('key'), 'tsig.key');
  writeFileSync(key, 'key "setup" { algorithm hmac-sha256; secret "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"; };');
  const { control, domain, config } = await startDaemon(t, {
    ...{ POSTRIDER_DNS_UPDATE_SERVER: '127.0.0.1:1', POSTRIDER_DNS_UPDATE_KEY: key },
    POSTRIDER_DNS_UPDATE_ZONES: 'postrider.example',
  });
  const { toPublish, findings } = await listRecords(control, config, domain);
  assert.ok(toPublish.some(({ name, type }) => type === 'A' && name === HOST));
  assert.match(lines(findings)[0] ?? '', /^warn .*: 0 of \d+ records are written by dynamic updates$/);
});

test('a domain in a zone of the updates is published at once, and only what stays in the way is left to the operator', async (t) => {
  const { control, domain, config } = await startDaemon(t, { POSTRIDER_DNS_UPDATE_SERVER: '' });
  const update = { server: '192.0.2.53', key: 'key', zones: ['Shop.example', 'postrider.example'] };
  const changed = { ...config, dns: { ...config.dns, update } };
  const asked: string[] = [];
  const answering = (problem: string | null): Pick<ControlClient, 'request'> => ({
    async request<Answer>(method: ControlMethod, path: string): Promise<Answer> {
      asked.push(`${method} ${path}`);
      if (method === 'GET') return control.request<Answer>(method, path);
      const own = path.startsWith('/domains') ? domain.records : [];
      const records = own.map(({ type, name, record }) => ({
        ...{ type, name, detail: '' },
        state: record === 'SPF' ? 'conflict' : 'written',
      }));
      return { records: problem === null ? records : [], problem } as Answer;
    },
  });
  const ofDomain = ({ name }: { name: string }) => name.endsWith('shop.example');
  const { toPublish, findings } = await listRecords(answering(null), changed, domain);
  assert.ok(asked.includes(`POST /domains/${domain.id}/publish`));
  assert.deepEqual(
    toPublish.filter(ofDomain).map(({ type, name }) => `${type} ${name}`),
    ['TXT shop.example'],
  );
  assert.match(
    lines(findings).join('\n'),
    /^warn shop\.example: 2 of 3 records are written by dynamic updates$/m,
  );
  const failed = await listRecords(answering('no answer'), changed, domain);
  assert.ok(failed.toPublish.filter(ofDomain).length > domain.records.length);

  asked.length = 0;
  const elsewhere = {
    ...config,
    dns: { ...config.dns, update: { ...update, zones: ['postrider.example'] } },
  };
  await listRecords(answering(null), elsewhere, domain);
  assert.ok(!asked.some((request) => request.endsWith('/publish')));
});

test('a domain is verified once its records are there, and is not asked for before', async (t) => {
  const { control, dns, domain, config } = await startDaemon(t);
  const { needed } = await listRecords(control, config, domain);
  const report = new Report(fakeTerminal(), { isJson: false });
  const waiting = {
    control,
    report,
    waitMs: 0,
    isKept: true,
    world: { authority: dns, clock: createFakeClock(0) },
  };
  const before = await waitForRecords(waiting, domain, needed);
  assert.equal(before.isVerified, false);
  assert.deepEqual(
    before.domain.records.map(({ lastCheckedAt }) => lastCheckedAt),
    [null, null, null],
  );
  assert.match(
    lines(before.findings).join(),
    /^warn records: \d+ of \d+ are not published yet: A mx\.postrider/,
  );

  dns.setZone(
    needed
      .map(({ name, type, value }) => `${name} ${type} ${type === 'TXT' ? `"${value}"` : value}`)
      .join('\n'),
  );
  const after = await waitForRecords(waiting, domain, needed);
  assert.deepEqual(lines(after.findings), ['ok shop.example: its records are right, so it may send']);

  dns.setZone('');
  const spf = needed.filter(({ name }) => name === 'shop.example');
  dns.setZone('shop.example TXT "v=spf1 -all"\n_dmarc.shop.example TXT "v=DMARC1; p=none"');
  const wrong = await waitForRecords(waiting, { ...domain, records: [] }, spf);
  assert.match(lines(wrong.findings).join(), /^fail shop\.example: it is not verified \(SPF: /);
});
