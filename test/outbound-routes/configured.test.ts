/** Routes of the configuration file: what it may say, that it wins over stored routes, and what its relays need. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { DEFAULT_SMTP_TIMEOUTS } from '../../src/mail/smtp/client/timeouts.ts';
import { checkRelay } from '../../src/outbound-routes/check-relay.ts';
import { findOutboundRoute, getOutboundRoute, listOutboundRoutes } from '../../src/outbound-routes/find.ts';
import { openRelay } from '../../src/outbound-routes/relay.ts';
import { removeOutboundRoute, saveOutboundRoute } from '../../src/outbound-routes/save.ts';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { realClock } from '../../src/system/clock.ts';
import { createDial } from '../../src/system/dial.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { dialHosts } from '../support/loopback.ts';
import { openTestApp } from '../support/test-app.ts';
import { TRUSTED_HOST, trustCertificate } from '../support/trusted-certificate.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { PASSWORD, startRelay, USER } from './relay-server.ts';

const closing = closeAfterTests();
const folder = mkdtempSync(join(tmpdir(), 'postrider-routes-'));

function configOf(routes: string) {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `hostname: mx.example\noutbound:\n  routes: ${routes}\n`);
  return loadConfig({ file, env: {} });
}

const refused = (routes: string, reason: RegExp) =>
  assert.throws(
    () => configOf(routes),
    (error) => error instanceof ConfigError && reason.test(error.message),
    routes,
  );

test('a route that cannot work keeps the daemon from starting, with its name and the reason', () => {
  refused('[{ name: A }]', /name/);
  refused('[{ name: a, hosts: ["x:25"] }]', /"a": "x:25" is not the name or the address of a host/);
  refused('[{ name: a, hosts: [x.example], user: me }]', /"a": a user needs a password/);
  refused('[{ name: a, hosts: [x.example], passwordFile: p }]', /a password a user/);
  refused(
    '[{ name: a, hosts: [x.example], password: p }]',
    /"outbound\.routes\[0\]\.password" is not a setting/,
  );
  refused('[{ name: a, tls: implicit }]', /"tls" needs "hosts"/);
  refused('[{ name: a, caFile: x.pem }]', /needs "hosts"/);
  refused('[{ name: a, hosts: [x.example], tlsName: "a b" }]', /"a b" is not a host name/);
  refused('[{ name: a }, { name: a, domain: b.example }]', /"a": the route "a" has its name/);
  refused(
    '[{ name: a, domain: B.example }, { name: b, domain: b.example }]',
    /"b": the route "a" has its name or/,
  );
});

test('a route of the file wins, is listed as such, and is changed in the file alone', async () => {
  const { app } = closing(await openTestApp());
  const config = configOf('[{ name: all, hosts: [a.example] }, { name: direct, domain: bücher.example }]');
  const configured = { ...app, config };
  await saveOutboundRoute(app, 'stored', { hosts: ['b.example'] });
  await saveOutboundRoute(app, 'all', { domain: 'c.example', hosts: ['c.example'] });
  const names = (await listOutboundRoutes(configured, { name: '', after: '', limit: 10 })).map(
    ({ name, source }) => `${name} ${source}`,
  );
  assert.deepEqual(names, ['all configuration', 'direct configuration', 'stored stored']);
  const named = async (part: { name?: string; after?: string; limit?: number }) =>
    (await listOutboundRoutes(configured, { name: '', after: '', limit: 10, ...part })).map(
      ({ name }) => name,
    );
  assert.deepEqual(await named({ limit: 1 }), ['all']);
  assert.deepEqual(await named({ limit: 1, after: 'all' }), ['direct']);
  assert.deepEqual(await named({ limit: 1, after: 'direct' }), ['stored']);
  assert.deepEqual(await named({ name: 'r' }), ['direct', 'stored']);
  const routeOf = async (domain: string) =>
    (await findOutboundRoute(configured, { tenantId: 'ten_1', domain }))?.name;
  assert.equal(await routeOf('any.example'), 'all');
  assert.equal(await routeOf('xn--bcher-kva.example'), 'direct');
  const isRefused = { code: 'already_exists' };
  const free = { domain: 'd.example', hosts: ['b.example'] };
  await assert.rejects(saveOutboundRoute(configured, 'all', free), isRefused);
  await assert.rejects(removeOutboundRoute(configured, 'all'), isRefused);
});

test('the password and the authority are read from files beside the configuration, for each session', async () => {
  const relay = closing(await startRelay());
  const dns = zoneDns(`${TRUSTED_HOST} A 192.0.2.1`);
  const { app } = closing(
    await openTestApp({ system: { dns, dial: dialHosts({ '192.0.2.1': relay.port }) } }),
  );
  const files = 'passwordFile: relay.password, caFile: relay.pem';
  const config = configOf(`[{ name: all, hosts: [${TRUSTED_HOST}], user: ${USER}, ${files} }]`);
  const problemOf = async () => {
    const route = await getOutboundRoute({ ...app, config }, 'all');
    assert.ok(route.relay);
    return (await checkRelay({ ...app, config }, route.relay))[0]?.problem;
  };
  assert.match(
    String(await problemOf()),
    /^auth: the password or the authorities of the route "all" cannot be used \(ENOENT\)$/,
  );
  writeFileSync(join(folder, 'relay.password'), `${PASSWORD}\n`);
  writeFileSync(join(folder, 'relay.pem'), '');
  assert.match(String(await problemOf()), /cannot be used/);
  const { certificate } = await trustCertificate();
  writeFileSync(join(folder, 'relay.pem'), certificate);
  assert.equal(await problemOf(), null);
  assert.deepEqual(relay.logins, [`PLAIN ${USER} ${PASSWORD}`]);
});

test('a private relay is dialled only when its route permits it', async () => {
  const relay = closing(await startRelay());
  const targets = createTargetGuard({ allow: [], own: [] });
  const { app } = closing(await openTestApp({ system: { targets, dial: createDial(targets, realClock) } }));
  const settings = { hosts: ['127.0.0.1'], port: relay.port, tlsName: TRUSTED_HOST };
  const set = async (isPrivate: boolean) => {
    await saveOutboundRoute(app, 'own', { ...settings, private: isPrivate });
    const route = await getOutboundRoute(app, 'own');
    assert.ok(route.relay);
    return route.relay;
  };
  const guarded = await set(false);
  assert.match(
    String((await checkRelay(app, guarded))[0]?.problem),
    /^127\.0\.0\.1 has no public address; a relay with a private address needs --private$/,
  );
  const target = { host: '127.0.0.1', address: '127.0.0.1', timeouts: DEFAULT_SMTP_TIMEOUTS };
  assert.equal((await openRelay(app, guarded, target)).ok, false);
  assert.equal(relay.connections(), 0);
  assert.deepEqual((await checkRelay(app, await set(true)))[0]?.problem, null);
});
