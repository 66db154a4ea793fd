import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { openWriting } from '../../../src/db/connection.ts';
import { readTlsReport } from '../../../src/mail/reports/tls.ts';
import { usableRecords } from '../../../src/mail/tls-policy/tlsa.ts';
import { createTlsReportWork } from '../../../src/mail-reports/tls-reports/work.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import type { Fetch } from '../../../src/system/fetch.ts';
import { DeliveryTls } from '../../../src/tls-policies/delivery-tls.ts';
import { addTlsSessions, listTlsSessions, saveStsPolicy } from '../../../src/tls-policies/store.ts';
import { createStsRefreshWork } from '../../../src/tls-policies/sts-policies.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { deliveryAppOf, openSpool } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

const posts: { url: string; body: Buffer; type: string | undefined }[] = [];
let status = 201;
/** Resolved when the server of `hangs.test` is to answer. */
const hanging = Promise.withResolvers<void>();
const fetch: Fetch = async ({ url, body, headers }) => {
  if (url.includes('mta-sts')) throw new Error('connect ECONNREFUSED');
  if (url.includes('hangs.test')) await hanging.promise;
  posts.push({ url, body: body as Buffer, type: headers['content-type'] });
  return { status, headers: {}, body: Buffer.alloc(0), truncated: false };
};
const closing = closeAfterTests();
const spool = closing(await openSpool({ system: { fetch } }));
const { app } = spool;
spool.addZone(`_smtp._tls.mail.test TXT "v=TLSRPTv1; rua=mailto:tls@mail.test"
_smtp._tls.post.test TXT "v=TLSRPTv1;rua=https://reports.test/tls"
_smtp._tls.hangs.test TXT "v=TLSRPTv1;rua=https://hangs.test/tls"
_smtp._tls.broken.test TXT "v=TLSRPTv1;rua=https://reports.test/broken"
_smtp._tls.limit.test TXT "v=TLSRPTv1;rua=https://reports.test/tls"
_smtp._tls.both.test TXT "v=TLSRPTv1;rua=https://reports.test/tls,mailto:tls@both.test"`);
const HOST = { host: 'mx.mail.test', address: '192.0.2.1', from: '93.184.216.34' };

const session = (tls: object | undefined, ...offered: string[]) => {
  const extensions = new Map(offered.map((keyword) => [keyword, '']));
  return { ok: true, session: { tls, extensions } } as never;
};
const failed = (problem: string) =>
  ({ ok: false, failure: { phase: 'starttls', kind: 'tls', message: 'it failed', problem } }) as never;
const GOOD = { version: 'TLSv1.3', cipher: 'x', authorized: true, fault: undefined };
const dane = {
  kind: 'dane',
  base: 'mx',
  names: [],
  records: usableRecords([`3 1 1 ${'a'.repeat(64)}`]),
} as const;

/** Counts sessions with the hosts of a domain, whose policy was looked up before. */
async function observe(
  domain: string,
  ...sessions: Pick<Parameters<DeliveryTls['observe']>[0], 'tls' | 'opened' | 'from'>[]
) {
  const tls = new DeliveryTls(app);
  await tls.policiesOf(domain, undefined).posture(undefined);
  for (const one of sessions) tls.observe({ domain, ...HOST, ...one });
  await tls.flush();
}

async function runNextDay(): Promise<void> {
  await spool.clock.advance(DAY_MS + 8 * 3_600_000);
  await runOnce(createTlsReportWork(app));
}

async function runOnce(work: ReturnType<typeof createTlsReportWork>): Promise<void> {
  const { items } = await work.lease(1);
  for (const item of items) await work.run(item);
}

const mails = () =>
  app.db.read.selectFrom('messages').selectAll().where('sender', 'like', 'postmaster@%').execute();
/** Returns the sessions of all reports that are not sent. */
async function counted() {
  const days = await app.db.read.selectFrom('tlsReports').select(['day', 'domain']).execute();
  return (await Promise.all(days.map((day) => listTlsSessions(app.db.read, day)))).flat();
}
const countPolicies = async () =>
  (await app.db.read.selectFrom('tlsReportPolicies').selectAll().execute()).length;
const opportunistic = { kind: 'opportunistic' } as const;

test('a day of sessions becomes one signed report by mail, which policies about TLS do not hold up', async () => {
  await observe(
    'mail.test',
    { tls: dane, opened: session(GOOD) },
    { tls: dane, opened: session(GOOD) },
    { tls: dane, opened: failed('certificate-not-trusted') },
    { tls: opportunistic, opened: session(undefined) },
  );
  await runNextDay();
  const [message, another] = await mails();
  assert.ok(message && !another);
  assert.equal(message.requireTls, 2);
  const recipients = await app.db.read
    .selectFrom('recipients')
    .selectAll()
    .where('messageId', '=', message.id)
    .execute();
  assert.deepEqual(
    recipients.map(({ address }) => address),
    ['tls@mail.test'],
  );
  const { signature, content } = await deliveryAppOf(app).prepare({ message, recipients } as never);
  const pieces: Uint8Array[] = [Buffer.from(signature, 'latin1')];
  for await (const piece of content.chunks()) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  assert.match(text, /^DKIM-Signature: .*d=mx\.postrider\.example;/);
  assert.match(
    text,
    /\r\nTLS-Report-Domain: mail\.test\r\nTLS-Report-Submitter: mx\.postrider\.example\r\nTLS-Required: No\r\n/,
  );
  assert.match(text, /report-type="tlsrpt"/);
  const [, encoded = ''] = /application\/tlsrpt\+gzip[\s\S]*?base64\r\n\r\n([\s\S]*?)\r\n--/.exec(text) ?? [];
  const json = gunzipSync(Buffer.from(encoded, 'base64')).toString();
  const report = readTlsReport(json);
  assert.deepEqual(
    report.policies.map(({ policyType, succeeded, failed, failures }) => ({
      policyType,
      succeeded,
      failed,
      failures,
    })),
    [
      {
        policyType: 'no-policy-found',
        succeeded: 0,
        failed: 1,
        failures: [{ resultType: 'starttls-not-supported', sessions: 1, receivingHost: 'mx.mail.test' }],
      },
      {
        policyType: 'tlsa',
        succeeded: 2,
        failed: 1,
        failures: [{ resultType: 'certificate-not-trusted', sessions: 1, receivingHost: 'mx.mail.test' }],
      },
    ],
  );
  const day = new Date(spool.clock.now() - DAY_MS).toISOString().slice(0, 10);
  assert.ok(json.includes(`{"start-datetime":"${day}T00:00:00Z","end-datetime":"${day}T23:59:59Z"}`), json);
  const [begin, end] = ['T00:00:00Z', 'T23:59:59Z'].map((time) => Date.parse(day + time) / 1_000);
  assert.ok(text.includes(` filename="mx.postrider.example!mail.test!${begin}!${end}!`), text);
  assert.match(json, /"policy-string":\["3 1 1 a{64}"\]/);
  assert.match(json, /"certificate-not-trusted","sending-mta-ip":"93\.184\.216\.34",/);
  assert.deepEqual([await counted(), await countPolicies()], [[], 0]);
});

test('domains that ask for no reports, and failures that are not of TLS, leave no trace', async () => {
  await observe('silent.test', { tls: opportunistic, opened: session(GOOD) });
  const reset = { ok: false, failure: { phase: 'connect', kind: 'connection', message: 'reset' } } as never;
  await observe('mail.test', { tls: opportunistic, opened: reset });
  assert.deepEqual(await counted(), []);
});

test('a report goes by HTTPS, and is tried again for a day when the server does not take it', async () => {
  status = 500;
  await observe('post.test', { tls: opportunistic, opened: session(GOOD) });
  await runNextDay();
  assert.equal(posts.length, 1);
  assert.equal((await counted()).length, 1);
  status = 201;
  await runNextDay();
  assert.deepEqual(
    posts.map(({ url, type }) => [url, type]),
    Array(2).fill(['https://reports.test/tls', 'application/tlsrpt+gzip']),
  );
  assert.equal(readTlsReport(gunzipSync(posts[1]?.body ?? '').toString()).policies[0]?.succeeded, 1);
  assert.deepEqual(await counted(), []);
});

test('a report that goes by mail is posted once more where that has failed, and is mailed once', async () => {
  const { length } = await mails();
  posts.length = 0;
  status = 500;
  await observe('both.test', { tls: opportunistic, opened: session(GOOD) });
  await runNextDay();
  status = 201;
  await runNextDay();
  await runNextDay();
  assert.equal((await mails()).length, length + 1);
  assert.equal(posts.length, 2);
  const [first, second] = posts.map(({ body }) => JSON.parse(gunzipSync(body).toString()));
  assert.equal(first['report-id'], second['report-id'], 'its receiver can tell that it has it');
  assert.deepEqual(await counted(), []);
});

test('a server that hangs, or a report that cannot be made, holds up no report of other domains', async () => {
  posts.length = 0;
  await observe('hangs.test', { tls: opportunistic, opened: session(GOOD) });
  await observe('broken.test', { tls: opportunistic, opened: session(GOOD) });
  await observe('post.test', { tls: opportunistic, opened: session(GOOD) });
  const side = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  side.exec("UPDATE tlsReportPolicies SET policy = '{' WHERE domain = 'broken.test'");
  const running = runNextDay();
  await waitUntil(() => posts.some(({ url }) => url === 'https://reports.test/tls'));
  hanging.resolve();
  await running;
  assert.deepEqual(
    (await counted()).map(({ domain }) => domain),
    ['broken.test'],
  );
  const reports = () => app.db.read.selectFrom('tlsReports').select(['domain', 'attempts']).execute();
  assert.deepEqual(await reports(), [{ domain: 'broken.test', attempts: 1 }]);
  for (let attempt = 2; attempt <= 6; attempt++) await runNextDay();
  assert.deepEqual([await reports(), await counted()], [[], []], 'it is given up');
  side.close();
});

test('a policy that is announced and cannot be fetched is reported', async () => {
  spool.addZone('_mta-sts.post.test TXT "v=STSv1; id=1"');
  await observe('post.test');
  const [row] = await counted();
  assert.match(row?.failure ?? '', /"type":"sts-policy-fetch-error"/);
});

test('a stored policy that cannot be fetched again is reported, unless it asks for nothing', async () => {
  await runNextDay();
  const now = spool.clock.now();
  for (const [domain, mode] of [
    ['post.test', 'enforce'],
    ['mail.test', 'none'],
  ] as const) {
    const row = { domain, mode, policyId: '1', mx: '["mx.post.test"]', maxAgeSeconds: 604_800 };
    await app.db.commit(saveStsPolicy, { ...row, expiresAt: now + DAY_MS, refreshAt: now });
  }
  await runOnce(createStsRefreshWork(app));
  const [row, another] = await counted();
  assert.equal(another, undefined);
  assert.match(row?.policy ?? '', /"type":"sts".*"mx: mx\.post\.test"/);
  assert.match(row?.failure ?? '', /"type":"sts-policy-fetch-error"/);
});

test('a host that offers TLS and whose TLS fails is not one without TLS', async () => {
  await runNextDay();
  await observe('mail.test', { tls: opportunistic, opened: session(undefined, 'STARTTLS') });
  const [row] = await counted();
  assert.match(row?.failure ?? '', /"type":"validation-failure".*"reason":"TLS has failed/);
});

test('an address that only this network knows is not reported', async () => {
  await runNextDay();
  for (const from of ['10.0.0.5', 'fe80::1', undefined])
    await observe('mail.test', { tls: opportunistic, opened: session(undefined), from });
  const rows = await counted();
  assert.deepEqual(
    rows.map(({ failure, sessions }) => [JSON.parse(failure).from, sessions]),
    [[null, 3]],
  );
});

test('a run sends a bounded number of reports, and the next one the others', async () => {
  await runNextDay();
  const now = spool.clock.now();
  const domains = Array.from({ length: 203 }, (_, index) => `d${index}.many.test`);
  const policy = JSON.stringify({ type: 'no-policy-found', lines: [], mx: [] });
  const day = Math.floor(now / DAY_MS) * DAY_MS - DAY_MS;
  const sessions = domains.map((domain) => ({ day, domain, policy, failure: '', sessions: 1, dueAt: now }));
  await app.db.commit(addTlsSessions, { counted: sessions });
  await runOnce(createTlsReportWork(app));
  assert.equal((await counted()).length, 3);
  await runOnce(createTlsReportWork(app));
  assert.deepEqual(await counted(), []);
});

/** Returns the policies of the only report that is sent the next day, and the number of failures that they count. */
async function sendReport() {
  posts.length = 0;
  await runNextDay();
  const { policies } = JSON.parse(gunzipSync(posts[0]?.body ?? '').toString());
  const counts: number[] = policies.map(
    (one: (typeof policies)[0]) => one.summary['total-failure-session-count'],
  );
  return { policies, failures: counts.reduce((sum, count) => sum + count, 0) };
}

/** Failures of a report that are summed without their details. */
const summed = (sessions: number) => ({
  'result-type': 'certificate-expired',
  'failed-session-count': sessions,
  'failure-reason-code': 'further failures of this kind, summed without their details',
});

test('a domain has a bounded number of different results, and sessions beyond it are counted without their details', async () => {
  await runNextDay();
  const failuresWith = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      tls: dane,
      from: `93.184.216.${first + index}`,
      opened: failed('certificate-expired'),
    }));
  await observe('limit.test', ...failuresWith(0, 150));
  await observe('limit.test', ...failuresWith(150, 100));
  assert.equal((await counted()).length, 201);
  assert.equal(await countPolicies(), 2, 'the policy is stored once for all results with their details');
  const { policies, failures } = await sendReport();
  assert.equal(failures, 250);
  assert.deepEqual(policies.at(-1), {
    policy: { 'policy-type': 'tlsa', 'policy-domain': 'limit.test' },
    summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 50 },
    'failure-details': [summed(50)],
  });
});

test('a domain has a bounded number of different policies, and sessions by further ones are counted without their texts', async () => {
  await runNextDay();
  const sessionsBy = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      tls: { ...dane, records: usableRecords([`3 1 1 ${first + index + 1_000}${'a'.repeat(60)}`]) },
      opened: failed('certificate-expired'),
    }));
  await observe('limit.test', ...sessionsBy(0, 5));
  await observe('limit.test', ...sessionsBy(4, 6), { tls: dane, opened: session(GOOD) });
  assert.equal(await countPolicies(), 9);
  const { policies, failures } = await sendReport();
  assert.equal(failures, 11);
  assert.equal(policies.length, 9);
  assert.deepEqual(policies.at(-1), {
    policy: { 'policy-type': 'tlsa', 'policy-domain': 'limit.test' },
    summary: { 'total-successful-session-count': 1, 'total-failure-session-count': 2 },
    'failure-details': [summed(2)],
  });
  assert.equal(await countPolicies(), 0);
});

test('the text of a policy that is far too long is left out', async () => {
  await runNextDay();
  const records = usableRecords(
    Array.from({ length: 20 }, (_, index) => `3 1 1 ${index + 10}${'a'.repeat(62)}`),
  );
  await observe('mail.test', { tls: { ...dane, records }, opened: session(GOOD) });
  const long = Array(20).fill({ ...records[0], matchingType: 0, data: 'a'.repeat(4_000) });
  await observe('mail.test', { tls: { ...dane, records: long }, opened: session(GOOD) });
  const lines = (await counted()).map(({ policy }) => JSON.parse(policy).lines.length);
  assert.deepEqual(lines.toSorted(), [0, 20]);
});
