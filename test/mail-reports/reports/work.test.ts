import assert from 'node:assert/strict';
import { test } from 'node:test';
import { undecided } from '../../../src/mail/auth/result.ts';
import { readReport } from '../../../src/mail/reports/read.ts';
import { selectFor } from '../../../src/mail-reports/reports/select.ts';
import { insertReport, MAX_DAILY_REPORTS } from '../../../src/mail-reports/reports/store.ts';
import { createReportKind, storedReporterOf } from '../../../src/mail-reports/reports/work.ts';
import { receivedSteps } from '../../../src/receiving/expire.ts';
import { newId } from '../../../src/system/ids.ts';
import { INSTALLATION_TENANT } from '../../../src/tenants/installation.ts';
import { setTenantPlan } from '../../../src/tenants/store.ts';
import { BYTES_PER_MEGABYTE as MEGABYTE } from '../../../src/tenants/stored-mail/store.ts';
import { openMailWorld, PASS, sendMail } from '../../inbound/mail-world.ts';
import { DMARC_XML, gzipped, TLS_REPORT } from '../../mail/reports/fixtures.ts';
import { storePlan } from '../../support/store-plan.ts';
import { runDueTasks } from '../../support/tasks.ts';

const HOST = 'mx.postrider.example';
const world = await openMailWorld();
const { app, clock } = world;
let isBusy = false;
const kind = createReportKind({
  ...app,
  reportReader: {
    async read(message) {
      if (isBusy) return { kind: 'busy' };
      const report = readReport(message);
      return report ? { kind: 'report', report } : { kind: 'unreadable' };
    },
  },
});
await world.addDomain('shop.example');
const DOMAIN = `dom_${'1'.padStart(26, '0')}`;
const ADDRESS = `reports+${DOMAIN.slice(4)}@${HOST}`;
const BIG = { ...PASS, dmarc: { ...PASS.dmarc, domain: 'big.example' } };
world.knobs.result = BIG;

/** Sends a report and reads it. Returns the reply. */
async function send(message: string, to = ADDRESS): Promise<string> {
  const client = await world.open();
  const reply = await sendMail(client, { from: 'noreply@big.example', to, message });
  client.socket.destroy();
  await run();
  return reply;
}

async function run(): Promise<void> {
  await clock.advance(100);
  await runDueTasks(app, kind);
}

const rows = () => app.db.read.selectFrom('receivedReports').selectAll().orderBy('id').execute();
const withId = (id: string) => gzipped(DMARC_XML.replace('17995', id));
const list = async (query = '', key = world.test.liveKey) =>
  world.test.request('GET', `/v1/domains/${DOMAIN}/reports${query}`, { key });
async function resultCount(result: string): Promise<number> {
  const { text } = await app.metrics.show();
  return Number(new RegExp(`inbound_reports_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}

test('an aggregate report becomes a row about the domain alone, which the API shows', async () => {
  assert.match(await send(gzipped(DMARC_XML)), /^250/);
  const { status, body } = await list();
  assert.equal(status, 200);
  const [report, ...more] = body.data;
  assert.deepEqual(more, []);
  assert.match(report.id, /^rep_/);
  assert.deepEqual(report, {
    id: report.id,
    type: 'dmarc',
    reporter: 'big.example',
    organization: 'Big Mail & Co',
    reportId: '17995',
    periodStart: new Date(1_799_971_200_000).toISOString(),
    periodEnd: new Date(1_800_057_599_000).toISOString(),
    passed: 20,
    failed: 3,
    leftOut: { records: 0, messages: 0 },
    dmarc: {
      domain: 'shop.example',
      policy: 'quarantine',
      records: [
        {
          ...{ sourceIp: '192.0.2.1', messages: 20, disposition: 'none', dkim: true, spf: false },
          headerFrom: 'shop.example',
        },
        {
          ...{ sourceIp: '2001:db8::1', messages: 3, disposition: 'quarantine', dkim: false, spf: false },
          headerFrom: 'news.shop.example',
        },
      ],
      otherMessages: 0,
    },
    tls: null,
    createdAt: report.createdAt,
  });
  // The mail itself belongs to the installation.
  const tenantIds = (await world.messages()).map(({ tenantId }) => tenantId);
  assert.deepEqual(tenantIds, [null]);
});

test('a report that is sent again is stored once', async () => {
  await send(gzipped(DMARC_XML));
  assert.equal((await rows()).length, 1);
  assert.equal(await resultCount('duplicate'), 1);
});

test('a report about TLS is listed by its type and by time', async () => {
  const between = clock.now();
  await clock.advance(1_000);
  await send(gzipped(JSON.stringify(TLS_REPORT)));
  const tls = (await list('?type=tls')).body.data;
  assert.deepEqual([tls.length, tls[0].passed, tls[0].failed, tls[0].dmarc], [1, 50, 3, null]);
  const domains = tls[0].tls.policies.map(({ domain }: { domain: string }) => domain);
  assert.deepEqual(domains, ['shop.example']);
  assert.equal((await list('?type=dmarc')).body.data.length, 1);
  const since = encodeURIComponent(new Date(between).toISOString());
  assert.deepEqual((await list(`?createdAfter=${since}`)).body.data, tls);
  const { body } = await list('?limit=1');
  assert.deepEqual([body.data, body.hasMore], [tls, true]);
  assert.equal((await list('?type=other')).status, 400);
});

test('reports of other tenants, and of deleted domains, are not found', async () => {
  const second = await world.test.addTenant('second');
  assert.equal((await list('', second.liveKey)).status, 404);
});

test('a report whose sender is not proven is refused, and one that may be proven later is deferred', async () => {
  const before = (await world.messages()).length;
  const none = { ...PASS, dmarc: { ...PASS.dmarc, result: 'none' as const } };
  const signature = { domain: 'big.example', selector: 's', algorithm: '', reason: '', isAligned: false };
  for (const [dkim, reply] of [
    [[], /^550 5\.7\.1 /],
    [[{ ...signature, result: 'fail' as const }], /^550 5\.7\.1 /],
    [[{ ...signature, result: 'temperror' as const }], /^451 4\.7\.0 /],
  ] as const) {
    world.knobs.result = { ...none, dkim };
    assert.match(await send(withId('unproven')), reply);
  }
  assert.equal((await world.messages()).length, before);
  // The signature of any domain proves who sends.
  world.knobs.result = { ...none, dkim: [{ ...signature, result: 'pass' }] };
  assert.match(await send(withId('signed')), /^250/);
  world.knobs.result = { ...PASS, dmarc: { ...PASS.dmarc, result: 'fail', policy: 'reject' } };
  assert.match(await send(withId('rejected')), /^550 5\.7\.1 /);
  world.knobs.result = BIG;
  assert.deepEqual((await rows()).map(({ reportId }) => reportId).includes('signed'), true);
});

test('the author stands for a report that was written on this machine, and for no other', () => {
  const headerFrom = 'dmarc@Shop.example';
  assert.equal(storedReporterOf({ auth: null, headerFrom }), 'shop.example');
  assert.equal(storedReporterOf({ auth: null, headerFrom: null }), undefined);
  assert.equal(storedReporterOf({ auth: JSON.stringify(undecided('', '')), headerFrom }), undefined);
});

test('only addresses of domains that a tenant has take reports', async () => {
  for (const address of [
    `reports+${'0'.repeat(25)}9@${HOST}`,
    `reports+x@${HOST}`,
    `reports+${DOMAIN.slice(4)}@shop.example`,
    `reports@shop.example`,
  ])
    assert.match(await send(withId('nowhere'), address), /^550 5\.1\.1 /, address);
  assert.match(await send(withId('upper'), ADDRESS.toUpperCase()), /^250/);
});

test('a report to the operator is logged as far as it is about names of this machine, and a few of each reporter', async () => {
  const [policy] = TLS_REPORT.policies;
  const { 'failure-details': details = [] } = policy ?? {};
  const own = {
    ...policy,
    policy: { 'policy-type': 'no-policy-found', 'policy-domain': HOST },
    'failure-details': Array(10).fill(details[0]),
  };
  const report = gzipped(JSON.stringify({ ...TLS_REPORT, policies: [policy, own, own] }));
  const logged = () => world.lines.filter(({ msg }) => msg === 'other servers could not use TLS');
  assert.match(await send(report, `reports@${HOST}`), /^250/);
  assert.equal(await resultCount('installation'), 1);
  const [line, ...more] = logged();
  assert.deepEqual([line?.['domain'], line?.['failed'], more.length], [HOST, 3, 0]);
  assert.equal([line?.['failures']].flat().length, 5);
  for (let count = 0; count < 6; count++) await send(report, `reports@${HOST}`);
  assert.equal(logged().length, 5);
});

test('a report about another domain, and mail that is no report, store nothing', async () => {
  const before = (await rows()).length;
  await send(gzipped(DMARC_XML.replaceAll('shop.example', 'shop2.example')));
  assert.equal(await resultCount('other'), 1);
  await send('Subject: x\r\n\r\nHi\r\n');
  assert.equal(await resultCount('unreadable'), 1);
  assert.equal((await rows()).length, before);
});

test('a report waits while the thread is busy', async () => {
  isBusy = true;
  await send(withId('waits'));
  isBusy = false;
  assert.equal((await world.tasks()).at(-1)?.state, 'pending');
  await clock.advance(60_000);
  await run();
  assert.equal((await rows()).at(-1)?.reportId, 'waits');
});

test('all names of one owner share the reports that a domain gets in a day, and leave some for others', async () => {
  const share = MAX_DAILY_REPORTS / 20;
  for (let index = 0; index < share + 5; index++) {
    world.knobs.result = { ...PASS, dmarc: { ...PASS.dmarc, domain: `mx${index}.attacker.co.uk` } };
    await send(withId(`many ${index}`));
  }
  const count = async (owner: string) =>
    (await rows()).filter(({ registrableDomain }) => registrableDomain === owner).length;
  assert.ok((await count('attacker.co.uk')) <= share);
  assert.ok((await count('attacker.co.uk')) > share / 2);
  assert.ok((await resultCount('limited')) >= 5);
  world.knobs.result = { ...PASS, dmarc: { ...PASS.dmarc, domain: 'other.co.uk' } };
  await send(withId('other'));
  assert.equal((await rows()).at(-1)?.reporter, 'other.co.uk');
  world.knobs.result = BIG;
});

test('the more owners report, the less each of them may have, and a new one still finds room', async () => {
  const [row] = await rows();
  assert.ok(row);
  const domainId = `dom_${'9'.padStart(26, '0')}` as const;
  const insert = (registrableDomain: string, id: number) => {
    const createdAt = clock.now();
    const report = {
      ...row,
      domainId,
      registrableDomain,
      reportId: `${id}`,
      id: newId('rep', createdAt),
      createdAt,
    };
    return app.db.commit(insertReport, report);
  };
  const stored = new Map<number, number>();
  for (let id = 0; id < 100; id++)
    for (let owner = 0; owner < 40; owner++)
      if ((await insert(`owner${owner}.example`, id * 40 + owner)) === 'stored')
        stored.set(owner, (stored.get(owner) ?? 0) + 1);
  const counts = new Set(stored.values());
  assert.equal(stored.size, 40);
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, [...counts].join());
  const all = [...stored.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(all > MAX_DAILY_REPORTS / 2 && all < MAX_DAILY_REPORTS, `${all}`);
  assert.equal(await insert('new.example', -1), 'stored');
});

test('reports count against the plan of their tenant and leave half of it for mail, until they are deleted', async () => {
  await storePlan(app.db, 'small', { storedMegabytes: 1 });
  const { tenantId, liveKey: key } = await world.test.addTenant('small');
  await app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'small' });
  await world.addDomain('small.example', tenantId);
  const domain = await app.db.read
    .selectFrom('domains')
    .select('id')
    .where('name', '=', 'small.example')
    .executeTakeFirstOrThrow();
  const storedBytes = async () =>
    (await world.test.request('GET', '/v1/plan', { key })).body.usage.storedBytes;
  const to = `reports+${domain.id.slice(4)}@${HOST}`;
  // The sum of the tenant is kept in memory from here on.
  assert.equal(await app.directory.hasQuotaFor(tenantId, MEGABYTE), true);
  await send(gzipped(DMARC_XML.replaceAll('shop.example', 'small.example')), to);
  const [row] = (await rows()).filter((report) => report.tenantId === tenantId);
  assert.ok(row);
  assert.equal(await storedBytes(), 1_024 + row.details.length);
  assert.equal(await app.directory.hasQuotaFor(tenantId, MEGABYTE), false);
  let reports = 1;
  const insert = (details: string) => {
    reports += 1;
    const id = newId('rep', clock.now());
    const owner = { registrableDomain: `owner${reports}.example`, reportId: `${reports}` };
    return app.db.commit(insertReport, { ...row, ...owner, id, details });
  };
  const fills = JSON.stringify('ä'.repeat(10_000));
  let results = '';
  while (results === '' || results === 'stored') results = await insert(fills);
  assert.equal(results, 'full');
  const size = 1_024 + 20_002;
  assert.equal(await storedBytes(), 1_024 + row.details.length + (reports - 2) * size);
  assert.ok((await storedBytes()) <= MEGABYTE / 2);
  assert.ok((await storedBytes()) + size > MEGABYTE / 2);
  assert.equal(await insert('{}'), 'stored', 'a small one still fits');
  // A duplicate is not counted again.
  const before = await storedBytes();
  const again = { ...row, id: newId('rep', clock.now()) };
  assert.equal(await app.db.commit(insertReport, again), 'duplicate');
  assert.equal(await storedBytes(), before);
});

test('a policy of a domain above is accepted for the names of this domain, and never for others', () => {
  const report = readReport(Buffer.from(gzipped(DMARC_XML), 'latin1'));
  assert.ok(report);
  const about = (domain: string) => {
    const selected = selectFor(domain, report);
    return selected && [selected.passed, selected.failed];
  };
  assert.deepEqual(about('shop.example'), [20, 3]);
  assert.deepEqual(about('news.shop.example'), [0, 3]);
  assert.equal(about('elsewhere.example'), undefined);
  assert.equal(about('op.example'), undefined);
  assert.equal(about('other.shop.example'), undefined);
});

test('reports are deleted with the events', async () => {
  const step = receivedSteps(app).find(({ kind }) => kind === 'reports');
  assert.ok(step);
  const before = (await rows()).length;
  await step.expire(clock.now(), { after: '', rows: 10 });
  assert.equal((await rows()).length, before);
  await clock.advance(91 * 86_400_000);
  let after: string | undefined = '';
  while (after !== undefined) after = (await step.expire(clock.now(), { after, rows: 10 })).next;
  assert.deepEqual(await rows(), []);
  const counted = await app.db.read
    .selectFrom('storedMail')
    .select('bytes')
    .where('tenantId', '!=', INSTALLATION_TENANT)
    .execute();
  assert.deepEqual([...new Set(counted.map(({ bytes }) => bytes))], [0]);
});
