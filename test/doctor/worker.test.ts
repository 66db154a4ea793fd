import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundFindings, findingsOf } from '../../src/doctor/check.ts';
import { CHECKS } from '../../src/doctor/checks.ts';
import { examine } from '../../src/doctor/examine.ts';
import { recordFindings, silenceCheck } from '../../src/doctor/store.ts';
import { createDoctorWork } from '../../src/doctor/worker.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';
import { lines, openDoctorWorld } from './support.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-11-29T08:00:00Z');

/** Opens an installation that was started an hour ago, unless it is new. */
async function openOperated(change: { development?: boolean; email?: string; isNew?: boolean } = {}) {
  const clock = createFakeClock(START);
  const { log, lines: logged } = recordLog('info');
  const world = await openDoctorWorld({ system: { clock, log } });
  const { development = false, email = 'ops@admin.example', isNew = false } = change;
  const config = { ...world.app.config, development, operator: { email } };
  const app = { ...world.context, ...world.app, config };
  const work = createDoctorWork(app);
  if (!isNew) await clock.advance(HOUR_MS);
  const mails = () => world.app.db.read.selectFrom('recipients').select('address').execute();
  return { ...world, app, clock, logged, work, mails, run: () => work.run('run') };
}

test('only a production daemon with the address of an operator looks at the outside by itself', async () => {
  for (const change of [{ development: true }, { email: '' }]) {
    await using world = await openOperated(change);
    assert.deepEqual(await world.work.lease(1), { items: [], nextDueAt: undefined });
  }
  await using world = await openOperated();
  assert.deepEqual((await world.work.lease(1)).items, ['run']);
  assert.deepEqual((await world.work.lease(1)).items, []);
  await world.clock.advance(HOUR_MS);
  assert.deepEqual((await world.work.lease(1)).items, ['run']);
});

test('the runs begin when the configuration that was read again has an address', async () => {
  await using world = await openOperated({ email: '' });
  assert.deepEqual((await world.work.lease(1)).items, []);
  world.app.config.operator.email = 'ops@admin.example';
  assert.deepEqual((await world.work.lease(1)).items, ['run']);
});

test('the first run of a new installation waits for an hour, and later starts do not wait', async () => {
  await using world = await openOperated({ isNew: true });
  const hasRun = async () => {
    const states = await world.app.db.read.selectFrom('doctorChecks').selectAll().execute();
    return states.some(({ name, ranAt }) => name === 'dns-records' && ranAt !== null);
  };
  await world.run();
  assert.equal(await hasRun(), false);
  await world.clock.advance(HOUR_MS);
  await world.run();
  assert.equal(await hasRun(), true);

  await using started = await openOperated({ isNew: true });
  await started.app.db.commit(recordFindings, { checks: ['disk'], findings: [], now: START });
  await started.run();
  const ran = await started.app.db.read.selectFrom('doctorChecks').select('name').execute();
  assert.ok(ran.some(({ name }) => name === 'dns-records'));
});

async function silenceAllBut({ app }: Awaited<ReturnType<typeof openOperated>>, kept: string): Promise<void> {
  for (const { name } of CHECKS.filter((check) => check.name !== kept))
    await app.db.commit(silenceCheck, { name, silencedAt: START });
}

test('what fails in the first run of an installation that is being set up is mailed only if it still fails an hour later', async () => {
  await using world = await openOperated();
  await silenceAllBut(world, 'address');
  await world.run();
  assert.deepEqual(await world.mails(), []);
  world.dns.setZone('mx.postrider.example A 192.0.2.1');
  await world.clock.advance(HOUR_MS);
  await world.run();
  assert.deepEqual(await world.mails(), []);
  world.dns.setZone('');
  await world.run();
  await world.clock.advance(HOUR_MS);
  await world.run();
  assert.deepEqual(await world.mails(), [{ address: 'ops@admin.example' }]);
});

test('a check is logged when it turns, and mailed at most once a day while it fails', async () => {
  await using world = await openOperated();
  const { clock, run, mails, dns, logged } = world;
  await silenceAllBut(world, 'address');
  const turned = () => logged.filter(({ check }) => check === 'address').map(({ msg }) => msg);
  await run();
  assert.deepEqual(turned(), ['a check has failed']);
  await clock.advance(HOUR_MS);
  await run();
  assert.deepEqual(await mails(), [{ address: 'ops@admin.example' }]);
  await clock.advance(HOUR_MS);
  await run();
  assert.deepEqual(turned(), ['a check has failed']);
  assert.equal((await mails()).length, 1);
  await clock.advance(24 * HOUR_MS);
  await run();
  assert.equal((await mails()).length, 2);
  dns.setZone('mx.postrider.example A 192.0.2.1');
  await run();
  assert.deepEqual(turned(), ['a check has failed', 'a check is well again']);
  const { text } = await world.app.metrics.show();
  assert.match(text, /postrider_doctor_findings\{check="address",level="fail"\} 0\n/);
  assert.match(text, /postrider_doctor_findings\{check="reverse-dns",level="fail"\} 1\n/);
});

test('each check that was carried out has the time of its last run, beside what else is known of it', async () => {
  await using world = await openOperated();
  const states = () => world.app.db.read.selectFrom('doctorChecks').selectAll().execute();
  await world.app.db.commit(silenceCheck, { name: 'address', silencedAt: START });
  const record = (now: number) =>
    world.app.db.commit(recordFindings, { checks: ['address', 'disk'], findings: [], now });
  await record(START + 1);
  await record(START + 2);
  assert.deepEqual(await states(), [
    { name: 'address', mailedAt: null, silencedAt: START, ranAt: START + 2 },
    { name: 'disk', mailedAt: null, silencedAt: null, ranAt: START + 2 },
  ]);
});

test('a development installation is told so, and nothing is looked up or dialled', async () => {
  const asked: string[] = [];
  const refuse = async () => assert.fail('the outside was asked');
  await using world = await openDoctorWorld({
    env: { POSTRIDER_HOSTNAME: 'localhost' },
    system: { dial: refuse, probeTls: refuse },
  });
  const fresh = new Proxy(world.dns.fresh, {
    get: (_, key) => {
      asked.push(String(key));
      return refuse;
    },
  });
  const app = { ...world.context, ...world.app, dns: { ...world.dns, fresh } };
  const { findings } = await examine(app);
  assert.deepEqual(asked, []);
  assert.deepEqual(lines(findings.slice(0, 1)), [
    'ok localhost: this is a development installation, so DNS, port 25, blocklists, certificates, pages and backups are not checked',
  ]);
  assert.deepEqual(
    [...new Set(findings.map(({ check }) => check))],
    [
      'installation',
      'disk',
      'memory',
      'clock',
      'domains',
      'complaints',
      'receivers',
      'queue-age',
      'background-work',
    ],
  );
  assert.ok(findings.every(({ level }) => level !== 'fail'));
  const named = await examine({ ...app, dns: world.dns }, 'address');
  assert.deepEqual(lines(named.findings), ['fail localhost: it has no address in DNS']);
});

test('two findings about one subject turn once', async () => {
  await using world = await openOperated();
  const finding = { check: 'certificates', subject: 'mx', level: 'warn', says: 'a', advice: 'b' } as const;
  const run = () =>
    world.app.db.commit(recordFindings, {
      checks: ['certificates'],
      findings: [finding, finding],
      now: START,
    });
  assert.equal((await run()).length, 1);
  assert.equal((await run()).length, 0);
});

test('a silenced check sends no mail, and is still logged', async () => {
  await using world = await openOperated();
  await silenceAllBut(world, 'none');
  await world.run();
  assert.deepEqual(await world.mails(), []);
  assert.ok(world.logged.some(({ msg, check }) => msg === 'a check has failed' && check === 'address'));
  await world.app.db.commit(silenceCheck, { name: 'address', silencedAt: null });
  await world.clock.advance(HOUR_MS);
  await world.run();
  assert.equal((await world.mails()).length, 1);
});

test('the mail names each finding with what to do', async () => {
  await using world = await openOperated();
  await world.run();
  await world.clock.advance(HOUR_MS);
  await world.run();
  const [message] = await world.app.db.read.selectFrom('messages').selectAll().execute();
  assert.ok(message?.blobId);
  const content = await world.app.blobs.open(message.blobId);
  const text = (await content.head(content.sizeBytes)).toString();
  assert.match(text, /^Subject: mx\.postrider\.example: failed: .*address/m);
  assert.match(text, /^Auto-Submitted: auto-generated\r$/m);
  assert.match(text, /^To: ops@admin\.example\r$/m);
  assert.match(
    text.replaceAll('=\r\n', ''),
    /FAIL address: mx\.postrider\.example\r\n {4}it has no address in DNS\.\r\n {4}What to do: publish/,
  );
});

test('a DNS that never answers ends every check in time, and turns nothing that was known', async () => {
  await using world = await openOperated();
  await world.run();
  const before = await world.app.db.read.selectFrom('doctorFindings').selectAll().execute();
  const never = () => new Promise<never>(() => {});
  const hanging = new Proxy(world.dns, { get: (_, key) => (key === 'fresh' ? hanging : never) });
  const examined = examine({ ...world.app, dns: hanging });
  await world.clock.advance(3_600);
  const { findings, complete } = await examined;
  assert.ok(
    lines(findings).includes('warn address: no result within 3.6 seconds'),
    lines(findings).join('\n'),
  );
  assert.ok(!complete.includes('address'));
  const work = createDoctorWork({ ...world.app, dns: hanging });
  const running = work.run('run');
  await world.clock.advance(3_600);
  await running;
  const after = await world.app.db.read.selectFrom('doctorFindings').selectAll().execute();
  assert.deepEqual(
    after.filter(({ checkName }) => checkName === 'address'),
    before.filter(({ checkName }) => checkName === 'address'),
  );
});

test('a check shows at most twenty findings, the worst first, and says how many more there are', () => {
  const { ok, fail } = findingsOf('domains');
  const many = [
    ok('good', ''),
    ...Array.from({ length: 30 }, (_, index) => fail(`d${index}`, 'wrong', 'mend it')),
  ];
  const shown = boundFindings(many);
  assert.equal(shown.length, 21);
  assert.equal(shown[0]?.level, 'fail');
  assert.equal(shown.at(-1)?.says, '11 more like these');
});
