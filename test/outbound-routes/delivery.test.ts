/** Mail through the relays of the operator, to servers that do and do not keep what a route asks of them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../src/db/connection.ts';
import type { NewRoute } from '../../src/outbound-routes/admin-schemas.ts';
import { removeOutboundRoute, saveOutboundRoute } from '../../src/outbound-routes/save.ts';
import { chooseRoute } from '../../src/queue/site/route.ts';
import { openRoutedSpool } from '../queue/routed-spool.ts';
import { startRequireTlsServers } from '../queue/sessions/require-tls-servers.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../support/command-server.ts';
import type { Hosts } from '../support/loopback.ts';
import { deliveryAppOf } from '../support/spool.ts';
import { TRUSTED_HOST } from '../support/trusted-certificate.ts';
import { waitUntil } from '../support/wait-until.ts';
import { PASSWORD, startRelay, USER } from './relay-server.ts';

const RELAY = '192.0.2.50';
const OTHER = '192.0.2.51';
const MX = '192.0.2.60';
const closing = closeAfterTests();
const hosts: Hosts = {};
const mx = closing(await startCommandServer(acceptEverything));
hosts[MX] = mx.port;
const spool = closing(await openRoutedSpool(hosts));
spool.addZone(`${TRUSTED_HOST} A ${RELAY}\nrcpt.example MX 10 mx.rcpt.example\nmx.rcpt.example A ${MX}`);

const LOGIN = { user: USER, password: PASSWORD };

/** Runs SQL on a connection of its own, and returns the rows. */
function query(sql: string): Record<string, unknown>[] {
  const side = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  const rows = side.prepare<[], Record<string, unknown>>(sql).all();
  side.close();
  return rows;
}

/** Sets the only route, and returns what becomes of one mail to `to`. */
async function sendBy(route: NewRoute, to = 'bob@rcpt.example', name = 'main') {
  await saveOutboundRoute(spool.app, name, route);
  spool.dialled.length = 0;
  const id = await spool.accept(to);
  await spool.deliverDue();
  return spool.recipient(id);
}

/** Starts a server at the address of the relay, and returns it. */
async function relayAt<Server extends { port: number }>(
  starting: Promise<Server> | Server,
  address = RELAY,
): Promise<Server> {
  const server = await starting;
  hosts[address] = server.port;
  return server;
}

test('all mail goes through the relay, logged in over STARTTLS, and no host of its domain is dialled', async () => {
  const relay = closing(await relayAt(startRelay()));
  const recipient = await sendBy({ hosts: [TRUSTED_HOST], ...LOGIN });
  assert.deepEqual([recipient.status, recipient.mx], ['delivered', TRUSTED_HOST]);
  assert.match(recipient.tls, /^TLSv1\.3/);
  assert.deepEqual(relay.messages, [{ user: USER, recipients: ['bob@rcpt.example'] }]);
  assert.deepEqual(relay.logins, [`PLAIN ${USER} ${PASSWORD}`]);
  assert.deepEqual(spool.dialled, [RELAY]);
});

test('TLS may begin with the connection, and LOGIN is used where PLAIN is not offered', async () => {
  const relay = closing(await relayAt(startRelay({ isImplicit: true, mechanisms: ['LOGIN'] })));
  const recipient = await sendBy({ hosts: [TRUSTED_HOST], tls: 'implicit', ...LOGIN });
  assert.equal(recipient.status, 'delivered');
  assert.deepEqual(relay.logins, [`LOGIN ${USER} ${PASSWORD}`]);
});

test('the password is stored sealed', () => {
  const [row] = query('SELECT * FROM outboundRoutes');
  assert.ok(!JSON.stringify(row).includes(PASSWORD));
  assert.equal(spool.app.sealer.open(String(row?.['passwordSealed']), ['outbound-route', 'main']), PASSWORD);
  assert.throws(() => spool.app.sealer.open(String(row?.['passwordSealed']), ['outbound-route', 'other']));
});

test('a refused password defers the mail with the reason, suppresses nobody, and is not shown', async () => {
  const relay = closing(await relayAt(startRelay()));
  const second = closing(await relayAt(startRelay(), OTHER));
  spool.addZone(`second.example A ${OTHER}`);
  const route = { hosts: [TRUSTED_HOST, 'second.example'], tlsName: TRUSTED_HOST, user: USER };
  const recipient = await sendBy({ ...route, password: 'not the secret' }, 'bob@rcpt.example');
  assert.deepEqual([recipient.status, recipient.smtpCode], ['deferred', 535]);
  assert.match(
    recipient.diagnostic,
    /^The relay good\.example refuses our mail: 535 5\.7\.8 \*\*\* is wrong/,
  );
  assert.equal(relay.logins.length, 1);
  assert.equal(second.connections(), 0, 'a refused login is not repeated at another host');
  assert.deepEqual(query('SELECT * FROM suppressions'), []);
  assert.equal(
    (await sendBy({ ...route, password: PASSWORD })).status,
    'delivered',
    'the mended route counts at once',
  );
});

test('the next host is tried when the first cannot be reached', async () => {
  const relay = closing(await relayAt(startRelay(), OTHER));
  delete hosts[RELAY];
  const recipient = await sendBy({
    hosts: [TRUSTED_HOST, 'second.example'],
    tlsName: TRUSTED_HOST,
    ...LOGIN,
  });
  assert.equal(recipient.status, 'delivered');
  assert.equal(relay.messages.length, 1);
});

test('a relay without TLS, without AUTH, or with a certificate of another name gets no secret and no mail', async () => {
  const lines: string[] = [];
  const plain = closing(
    await startCommandServer((line) => {
      lines.push(line);
      return line.startsWith('EHLO') ? '250-relay\r\n250 AUTH PLAIN LOGIN' : acceptEverything(line);
    }),
  );
  await relayAt(plain);
  const withoutTls = await sendBy({ hosts: [TRUSTED_HOST], ...LOGIN });
  assert.deepEqual([withoutTls.status, withoutTls.smtpCode], ['deferred', null]);
  assert.match(withoutTls.diagnostic, /the host does not offer STARTTLS$/);
  assert.deepEqual([...new Set(lines.map((line) => line.split(' ')[0]))], ['EHLO']);

  const relay = closing(await relayAt(startRelay({ mechanisms: [] })));
  const withoutLogin = await sendBy({ hosts: [TRUSTED_HOST], ...LOGIN });
  assert.equal(withoutLogin.status, 'deferred');
  assert.match(withoutLogin.diagnostic, /neither AUTH PLAIN nor AUTH LOGIN$/);

  spool.addZone(`stranger.example A ${RELAY}`);
  for (const tls of ['starttls', 'implicit'] as const) {
    const server = closing(await relayAt(startRelay({ isImplicit: tls === 'implicit' })));
    const stranger = await sendBy({ hosts: ['stranger.example'], tls, ...LOGIN });
    assert.equal(stranger.status, 'deferred');
    assert.match(stranger.diagnostic, /the certificate is not valid: /);
    assert.deepEqual([server.logins, server.messages], [[], []]);
  }
  assert.deepEqual([relay.logins, relay.messages], [[], []]);
});

test('without a login the certificate is verified all the same', async () => {
  const relay = closing(await relayAt(startRelay()));
  assert.equal((await sendBy({ hosts: ['stranger.example'] })).status, 'deferred');
  assert.equal((await sendBy({ hosts: [TRUSTED_HOST] })).status, 'delivered');
  assert.deepEqual(relay.messages, [{ user: undefined, recipients: ['bob@rcpt.example'] }]);
  const implicit = closing(await relayAt(startRelay({ isImplicit: true })));
  assert.equal((await sendBy({ hosts: ['stranger.example'], tls: 'implicit' })).status, 'deferred');
  assert.equal((await sendBy({ hosts: [TRUSTED_HOST], tls: 'implicit' })).status, 'delivered');
  assert.equal(implicit.messages.length, 1);
});

test('a relay that relays nothing defers the mail; its refusal of a recipient bounces it', async () => {
  const replies = {
    'denied@rcpt.example': '554 5.7.1 <denied@rcpt.example>: Relay access denied',
    'later@rcpt.example': '451 4.3.0 Try again later',
    'nobody@rcpt.example': '550 5.1.1 No such user here',
  };
  closing(await relayAt(startRelay({ replies })));
  const route = { hosts: [TRUSTED_HOST], ...LOGIN };
  assert.equal((await sendBy(route, 'denied@rcpt.example')).status, 'deferred');
  assert.equal((await sendBy(route, 'later@rcpt.example')).status, 'deferred');
  assert.equal((await sendBy(route, 'nobody@rcpt.example')).status, 'bounced');
  const suppressed = query('SELECT email FROM suppressions').map(({ email }) => email);
  assert.deepEqual(suppressed, ['nobody@rcpt.example']);
});

test('the most specific route counts: a domain before a tenant, and both before all', async () => {
  closing(await relayAt(startRelay()));
  const all: NewRoute = { hosts: [TRUSTED_HOST], ...LOGIN };
  assert.equal(
    (await sendBy({ domain: 'RCPT.example' }, 'bob@rcpt.example', 'direct')).mx,
    'mx.rcpt.example',
  );
  assert.equal((await sendBy(all, 'bob@other.example')).mx, TRUSTED_HOST);
  spool.addZone(`other.example A ${MX}`);
  const tenant = spool.tenantId;
  assert.equal((await sendBy({ tenant }, 'bob@other.example', 'tenant')).mx, 'other.example');
  const both = { ...all, tenant, domain: 'rcpt.example' };
  assert.equal((await sendBy(both, 'bob@rcpt.example', 'both')).mx, TRUSTED_HOST);
  const { tenantId } = await spool.addTenant('another');
  await saveOutboundRoute(spool.app, 'tenant', { tenant: tenantId });
  assert.equal((await sendBy(all, 'bob@other.example')).mx, TRUSTED_HOST, 'the route of another tenant');
  for (const name of ['direct', 'tenant', 'both']) await removeOutboundRoute(spool.app, name);
});

test('mail with REQUIRETLS goes to a relay that offers it, and to no other', async () => {
  const servers = await startRequireTlsServers();
  after(() => servers.close());
  const send = async () => {
    const id = await spool.accept('bob@rcpt.example');
    query(`UPDATE messages SET requireTls = 1 WHERE id = '${id}' RETURNING id`);
    await spool.deliverDue();
    return spool.recipient(id);
  };
  await saveOutboundRoute(spool.app, 'main', { hosts: [TRUSTED_HOST] });
  await relayAt({ port: servers.good.port });
  assert.equal((await send()).status, 'delivered');
  assert.equal(servers.good.sessions.messages.at(-1)?.sender.requireTls, true);
  await relayAt({ port: servers.withoutPort });
  const refused = await send();
  assert.deepEqual([refused.status, refused.enhancedCode], ['bounced', '5.7.30']);
});

test('mail to the domains of this installation, and to the simulator, takes no route', async () => {
  await saveOutboundRoute(spool.app, 'main', { hosts: [TRUSTED_HOST], ...LOGIN });
  const name = (domain: string) =>
    ({ mode: 'live', kind: 'transactional', tenantId: spool.tenantId, domain, target: undefined }) as const;
  const siteOf = async (domain: string) => {
    const route = await chooseRoute(deliveryAppOf(spool.app), name(domain));
    return route.kind === 'wait' ? route.reason : route.site;
  };
  assert.equal(await siteOf('simulator.mx.postrider.example'), 'simulator');
  assert.equal(await siteOf('sandbox.mx.postrider.example'), 'local delivery');
  assert.equal(await siteOf('mx.postrider.example'), 'local delivery');
  spool.addZone('sender.example MX 10 mx.postrider.example');
  assert.equal(
    await siteOf('sender.example'),
    'local delivery',
    'a verified domain whose MX is this machine',
  );
  assert.match(await siteOf('rcpt.example'), /^relay main [0-9a-f]{8}$/);
});

test('mail waits while no host of the relay is found, with the name of the route', async () => {
  const recipient = await sendBy({ hosts: ['none.example'] });
  assert.equal(recipient.status, 'deferred');
  assert.equal(recipient.diagnostic, 'DNS: relay of the route "main": none.example: has no public address');
});

test('a changed route counts at once for a queue that has mail, however long DNS would keep the old one', async () => {
  const relay = closing(await relayAt(startRelay()));
  await removeOutboundRoute(spool.app, 'main');
  const answers: (() => void)[] = [];
  let isReleased = false;
  const slow = closing(
    await startCommandServer((line, socket) => {
      if (line !== '.' || isReleased) return acceptEverything(line);
      answers.push(() => socket.write('250 taken\r\n'));
      return '';
    }),
  );
  hosts[MX] = slow.port;
  const ids = [];
  for (let count = 0; count < 20; count++) ids.push(await spool.accept(`user${count}@rcpt.example`));
  const done = spool.deliverDue();
  await waitUntil(() => answers.length > 0);
  await saveOutboundRoute(spool.app, 'main', { hosts: [TRUSTED_HOST], ...LOGIN });
  isReleased = true;
  for (const answer of answers) answer();
  await done;
  const direct = 20 - relay.messages.length;
  assert.ok(direct >= 1 && direct <= 8, `${direct} of 20 mails that were claimed already took the old route`);
});

test('what a relay says of the user is neither shown nor stored, and still has its meaning', async () => {
  const to = 'gone@rcpt.example';
  const relay = closing(
    await relayAt(startRelay({ replies: { [to]: `550 5.1.1 ${USER}: no such user ${PASSWORD}` } })),
  );
  const recipient = await sendBy({ hosts: [TRUSTED_HOST], ...LOGIN }, to);
  assert.equal(relay.logins.length, 1);
  assert.deepEqual([recipient.status, recipient.class], ['bounced', 'bad-mailbox']);
  assert.match(recipient.diagnostic, /^550 5\.1\.1 \*\*\*: no such user \*\*\*$/);
  const [conversation] = query("SELECT lines FROM conversations WHERE lines LIKE '%<gone@%'");
  const lines = String(conversation?.['lines']);
  assert.match(lines, / > AUTH PLAIN \*\*\*\n\d+ < 235 .*\n.* < 550 5\.1\.1 \*\*\*: no such user \*\*\*\n/s);
  for (const table of ['conversations', 'attempts', 'recipients', 'events']) {
    const stored = JSON.stringify(query(`SELECT * FROM ${table}`)).replaceAll(spool.app.config.hostname, '');
    const encoded = Buffer.from(`\0${USER}\0${PASSWORD}`).toString('base64');
    for (const secret of [USER, PASSWORD, encoded])
      assert.ok(!stored.includes(secret), `${table}: ${secret}`);
  }
});
