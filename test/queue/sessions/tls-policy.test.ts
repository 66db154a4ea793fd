/** Mail to domains that have published policies about TLS (RFC 8461, RFC 7672), to servers that do and do not meet them. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { saveOutboundRoute } from '../../../src/outbound-routes/save.ts';
import { chooseRoute } from '../../../src/queue/site/route.ts';
import type { Fetch } from '../../../src/system/fetch.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import type { Hosts } from '../../support/loopback.ts';
import { deliveryAppOf } from '../../support/spool.ts';
import { trustCertificate } from '../../support/trusted-certificate.ts';
import { openRoutedSpool } from '../routed-spool.ts';
import { startRequireTlsServers } from './require-tls-servers.ts';

/** Offers TLS with a certificate for `good.example` that the system trusts. */
const GOOD = '192.0.2.1';
/** Offers no TLS. */
const PLAIN = '192.0.2.2';
const HOUR_MS = 3_600_000;

const { certificate } = await trustCertificate();
const { good, plain, close, withoutPort } = await startRequireTlsServers();
const hosts: Hosts = { [GOOD]: good.port, [PLAIN]: plain.port, '192.0.2.3': withoutPort };
/** Bodies of policies by their domain. */
const published = new Map<string, string>();
let fetches = 0;
const fetch: Fetch = async ({ url }) => {
  fetches++;
  const body = published.get(new URL(url).hostname.replace(/^mta-sts\./, ''));
  if (body === undefined) throw new Error('connect ECONNREFUSED');
  const headers = { 'content-type': 'text/plain' };
  return { status: 200, headers, body: Buffer.from(body), truncated: false };
};
const closing = closeAfterTests();
const spool = closing(await openRoutedSpool(hosts, 1, {}, { fetch }));
after(() => close());

function publish(domain: string, policy: string, id = '1'): string {
  published.set(domain, policy);
  return `_mta-sts.${domain} TXT "v=STSv1; id=${id}"`;
}
const policy = (mode: string, ...mx: string[]) =>
  `version: STSv1\nmode: ${mode}\n${mx.map((one) => `mx: ${one}\n`).join('')}max_age: 86400\n`;

async function send(to: string, requireTls: 0 | 1 | 2 = 0) {
  const id = await spool.accept(to);
  const side = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare('UPDATE messages SET requireTls = ? WHERE id = ?').run(requireTls, id);
  side.close();
  await spool.deliverDue();
  const { status, enhancedCode, diagnostic } = await spool.recipient(id);
  return { status, enhancedCode, diagnostic };
}

/** Returns the status of mail for an address of a domain. */
const statusOf = async (to: string, requireTls: 0 | 1 | 2 = 0) => (await send(to, requireTls)).status;

const siteOf = async (domain: string) => {
  const { tenantId } = spool;
  const queue = { mode: 'live', kind: 'transactional', tenantId, domain, target: undefined } as const;
  const route = await chooseRoute(deliveryAppOf(spool.app), queue);
  return route.kind === 'wait' ? route.reason : route.site;
};

const digest = createHash('sha256').update(new X509Certificate(certificate).raw).digest('hex');
const MATCHES = `3 0 1 ${digest}`;
const DIFFERS = `3 0 1 ${'0'.repeat(64)}`;

test('a policy in mode enforce lets mail go to a host that it names and that proves its name', async () => {
  spool.addZone(`good.example A ${GOOD}\nplain.example A ${PLAIN}`);
  spool.addZone(
    `enforce.example MX 10 good.example\n${publish('enforce.example', policy('enforce', '*.example'))}`,
  );
  spool.addZone('_smtp._tls.enforce.example TXT "v=TLSRPTv1; rua=mailto:tls@enforce.example"');
  assert.equal(await statusOf('bob@enforce.example'), 'delivered');
  assert.equal(good.sessions.messages.at(-1)?.client.tls !== undefined, true);
});

test('sessions are counted for reports until delivery stops', async () => {
  const counted = await spool.app.db.read.selectFrom('tlsSessions').selectAll().execute();
  assert.deepEqual(
    counted.map(({ domain, failure, sessions }) => [domain, failure, sessions]),
    [['enforce.example', '', 1]],
  );
});

test('a host without TLS, or without a valid certificate, gets no mail of a domain with such a policy', async () => {
  spool.addZone(
    `stripped.example MX 10 plain.example\n${publish('stripped.example', policy('enforce', '*.example'))}`,
  );
  const stripped = await send('bob@stripped.example');
  assert.equal(stripped.status, 'deferred');
  assert.match(stripped.diagnostic, /plain\.example \(STARTTLS\): the host does not offer STARTTLS/);
  spool.addZone(`other.example A ${GOOD}\nwrong.example MX 10 other.example`);
  spool.addZone(publish('wrong.example', policy('enforce', 'other.example')));
  const wrong = await send('bob@wrong.example');
  assert.equal(wrong.status, 'deferred');
  assert.match(wrong.diagnostic, /the certificate is not valid/);
  await spool.clock.advance(HOUR_MS);
  await spool.deliverDue();
  assert.equal(plain.messages.length, 0, 'nor does it later, in plain text');
});

test('hosts that the policy does not name are left out, and mail waits when it names none', async () => {
  const [before, mx] = [
    good.sessions.messages.length,
    'MX 10 plain.example\nsome.example MX 20 good.example',
  ];
  spool.addZone(`some.example ${mx}\n${publish('some.example', policy('enforce', 'good.example'))}`);
  assert.equal(await statusOf('bob@some.example'), 'delivered');
  assert.equal(good.sessions.messages.length, before + 1);
  spool.addZone(
    `none.example MX 10 good.example\n${publish('none.example', policy('enforce', 'mx.none.example'))}`,
  );
  const none = await send('bob@none.example');
  assert.equal(none.status, 'deferred');
  assert.match(none.diagnostic, /the MTA-STS policy of none\.example does not name it/);
});

test('a policy in mode testing or none holds nothing up', async () => {
  for (const mode of ['testing', 'none']) {
    const domain = `mode-${mode}.example`;
    spool.addZone(`${domain} MX 10 plain.example\n${publish(domain, policy(mode, 'good.example'))}`);
    assert.equal(await statusOf(`bob@${domain}`), 'delivered', mode);
  }
});

test('a domain with a policy never shares a site with one without, nor with one whose policy names other hosts', async () => {
  spool.addZone('shared.example MX 10 good.example');
  const sites = await Promise.all(['shared.example', 'enforce.example', 'none.example'].map(siteOf));
  assert.equal(sites[0], 'good.example');
  assert.equal(new Set(sites).size, 3, sites.join(' | '));
});

test('a policy that cannot be fetched is none, and is asked for again after five minutes', async () => {
  spool.addZone('late.example MX 10 plain.example\n_mta-sts.late.example TXT "v=STSv1; id=1"');
  assert.equal(await statusOf('bob@late.example'), 'delivered');
  const before = fetches;
  published.set('late.example', policy('enforce', 'good.example'));
  // The daemon that ran has forgotten its fetch; the site of one that runs is asked within five minutes.
  const app = deliveryAppOf(spool.app);
  published.delete('late.example');
  await app.tls.policiesOf('late.example', undefined).ttlMs();
  published.set('late.example', policy('enforce', 'good.example'));
  const retry = await app.tls.policiesOf('late.example', undefined).ttlMs();
  assert.ok(retry > 0 && retry <= 300_000, String(retry));
  assert.equal(fetches, before + 1);
  await spool.clock.advance(300_000);
  await app.tls.policiesOf('late.example', undefined).ttlMs();
  assert.equal(fetches, before + 2);
  assert.equal(await statusOf('bob@late.example'), 'deferred');
});

test('a domain whose record DNS does not answer for is asked again after five minutes, however long its hosts stay known', async () => {
  const app = deliveryAppOf(spool.app);
  spool.dns.fail('_mta-sts.unanswered.example', 'ESERVFAIL');
  assert.equal(await app.tls.policiesOf('unanswered.example', undefined).ttlMs(), 300_000);
  assert.equal(await app.tls.policiesOf('silent.example', undefined).ttlMs(), Number.POSITIVE_INFINITY);
});

test('a stored policy holds without its record and its host, until it expires', async () => {
  published.clear();
  spool.dns.fail('_mta-sts.late.example', 'ESERVFAIL');
  spool.dns.fail('_mta-sts.some.example', 'ESERVFAIL');
  assert.equal(await statusOf('eve@late.example'), 'deferred');
  assert.equal(await statusOf('eve@some.example'), 'delivered');
  await spool.clock.advance(25 * HOUR_MS);
  assert.equal(await statusOf('ann@late.example'), 'delivered');
});

test('TLSA records that DNSSEC proves decide, and MTA-STS is then ignored', async () => {
  spool.addZone(`org TXT "signed"\ndane.test MX 10 good.example\nfake.test MX 10 good.example`);
  spool.addZone(`_25._tcp.good.example TLSA ${MATCHES}`);
  spool.addZone(`_25._tcp.plain.example TLSA ${DIFFERS}`);
  spool.addZone(publish('dane.test', policy('enforce', 'mx.other.example')));
  spool.dns.sign('test', 'example', 'org');
  assert.equal(await statusOf('bob@dane.test'), 'delivered');
  assert.equal(await siteOf('dane.test').then((site) => site.includes(' dnssec')), true);
  spool.addZone(
    'bad.test MX 10 bad.example\nbad.example A 192.0.2.1\n_25._tcp.bad.example TLSA 3 0 1 '.concat(
      '1'.repeat(64),
    ),
  );
  const bad = await send('bob@bad.test');
  assert.equal(bad.status, 'deferred');
  assert.match(bad.diagnostic, /no TLSA record of the host matches/);
});

test('a host whose TLSA records cannot be read is skipped, and mail waits when all are', async () => {
  const before = good.sessions.messages.length;
  spool.dns.fail('_25._tcp.bad.example', 'ESERVFAIL');
  const failed = await send('eve@bad.test');
  assert.equal(failed.status, 'deferred');
  assert.match(failed.diagnostic, /its TLSA records cannot be read \(ESERVFAIL\)/);
  assert.equal(good.sessions.messages.length, before);
  spool.addZone('two.test MX 10 bad.example\ntwo.test MX 20 good.example');
  assert.equal(await statusOf('bob@two.test'), 'delivered');
});

test('TLSA records that nobody can use still ask for TLS, and nothing of its certificate', async () => {
  spool.addZone(
    `odd.test MX 10 odd.example\nodd.example A ${GOOD}\n_25._tcp.odd.example TLSA 1 1 1 ${digest}`,
  );
  assert.equal(await statusOf('bob@odd.test'), 'delivered');
  spool.addZone(
    `odd2.test MX 10 odd2.example\nodd2.example A ${PLAIN}\n_25._tcp.odd2.example TLSA 1 1 1 ${digest}`,
  );
  assert.match((await send('bob@odd2.test')).diagnostic, /the host does not offer STARTTLS/);
});

test('resolvers that do not validate prove nothing, and mail to signed domains waits while that is not known', async () => {
  spool.dns.sign('test', 'example');
  assert.equal(await statusOf('ann@bad.test'), 'delivered', 'the signed name is not secure, so nothing is');
  spool.dns.sign('test', 'example', 'org');
  spool.dns.fail('org', 'ETIMEOUT');
  const waits = await send('ann@dane.test');
  assert.equal(waits.status, 'deferred');
  assert.match(waits.diagnostic, /DNSSEC cannot be tested \(org: ETIMEOUT\)/);
  spool.dns.heal('org');
});

test('REQUIRETLS is served where DANE or MTA-STS proves the host, and bounces elsewhere', async () => {
  await spool.clock.advance(HOUR_MS);
  assert.equal(await statusOf('bob@dane.test', 1), 'delivered');
  spool.addZone(`sts.other MX 10 good.example\n${publish('sts.other', policy('enforce', 'good.example'))}`);
  assert.equal(await statusOf('bob@sts.other', 1), 'delivered');
  assert.equal(good.sessions.messages.at(-1)?.sender.requireTls, true);
  spool.addZone('mx.other MX 10 good.example');
  assert.equal((await send('bob@mx.other', 1)).enhancedCode, '5.7.30');
});

test('mail with TLS-Required: No goes where policies hold other mail up, and its session carries no other mail', async () => {
  spool.addZone('unnamed.other MX 10 good.example\nplain.other MX 10 plain.example');
  spool.addZone(publish('unnamed.other', policy('enforce', 'mx.unnamed.other')));
  spool.addZone(publish('plain.other', policy('enforce', '*.example')));
  const ids = [await spool.accept('bob@unnamed.other'), await spool.accept('bob@plain.other')];
  for (const domain of ['unnamed.other', 'plain.other']) {
    assert.equal(await statusOf(`ann@${domain}`, 2), 'delivered');
    const statuses = await Promise.all(ids.map(async (id) => (await spool.recipient(id)).status));
    assert.deepEqual(statuses, ['deferred', 'deferred']);
  }
});

test('a session that was opened for such mail carries no other mail', async () => {
  const before = plain.messages.length;
  const ids = [await spool.accept('dan@plain.other'), await spool.accept('eve@plain.other')];
  const side = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare('UPDATE messages SET requireTls = 2 WHERE id = ?').run(ids[0]);
  side.close();
  await spool.deliverDue();
  const statuses = await Promise.all(ids.map(async (id) => (await spool.recipient(id)).status));
  assert.deepEqual(statuses, ['delivered', 'deferred']);
  assert.match((await spool.recipient(ids[1] ?? '')).diagnostic, /the host does not offer STARTTLS/);
  assert.equal(plain.messages.length, before + 1);
});

test("the operator's word for a domain stands above its policies", async () => {
  await saveOutboundRoute(spool.app, 'none', { domain: 'none.example', tlsPolicy: 'opportunistic' });
  assert.equal(await statusOf('cyd@none.example'), 'delivered');
  await saveOutboundRoute(spool.app, 'mx', { domain: 'plain.example', tlsPolicy: 'required' });
  assert.equal(await statusOf('cyd@plain.example'), 'deferred');
  await saveOutboundRoute(spool.app, 'mx', { domain: 'plain.example', tlsPolicy: 'none' });
  assert.equal(await statusOf('dan@plain.example'), 'delivered');
  await saveOutboundRoute(spool.app, 'shared', { domain: 'shared.example', tlsPolicy: 'required-verified' });
  assert.equal(await statusOf('dan@shared.example'), 'delivered');
});
