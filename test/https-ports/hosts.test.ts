/** Tests of what each host serves over TLS, and of requests that name another host than their connection. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { endDomain } from '../../src/domains/store.ts';
import { createLinks } from '../../src/links/links.ts';
import { addDomain } from '../domains/fixtures.ts';
import { waitUntil } from '../support/wait-until.ts';
import { HOSTNAME, type HttpsWorld, openHttpsWorld } from './world.ts';

const TRACK = `track.${HOSTNAME}`;
const LINKS = 'links.a.example';
const POLICY = '/.well-known/mta-sts.txt';
const AUTOCONFIG = '/mail/config-v1.1.xml';

let world: HttpsWorld;
let unsubscribe: string;
before(async () => {
  world = await openHttpsWorld();
  const fields = { name: 'a.example', status: 'verified', productType: 'both', verifiedSince: 0 } as const;
  const { id } = await addDomain(world, fields);
  world.setTrackingHost(LINKS, id);
  unsubscribe = new URL(
    createLinks(world.app).unsubscribeUrl({
      ...{ tenantId: world.tenantId, topicId: undefined, contactId: undefined, address: 'a@b.example' },
    }),
  ).pathname;
  await waitUntil(async () => (await world.ask({ name: LINKS, path: '/healthz' })).status === 404);
});
after(() => world.close());

const statusOf = async (name: string, path: string) => (await world.ask({ name, path })).status;

test('each host serves its own routes alone', async () => {
  const paths = ['/healthz', '/v1/emails', '/docs', unsubscribe, POLICY, AUTOCONFIG];
  const served = async (name: string) =>
    Promise.all(paths.map(async (path) => [path === unsubscribe ? '/u' : path, await statusOf(name, path)]));
  const only = (known: Record<string, number>) =>
    paths.map((path) => {
      const shown = path === unsubscribe ? '/u' : path;
      return [shown, known[shown] ?? 404];
    });
  assert.deepEqual(await served(HOSTNAME), only({ '/healthz': 200, '/v1/emails': 401, '/docs': 200 }));
  assert.deepEqual(await served(TRACK), only({ '/u': 200 }));
  assert.deepEqual(await served(LINKS), only({}));
  assert.deepEqual(await served('mta-sts.a.example'), only({ [POLICY]: 200 }));
  for (const name of ['autoconfig.a.example', 'autodiscover.a.example'])
    assert.deepEqual(await served(name), only({ [AUTOCONFIG]: 200 }));
});

test('the settings for mail programs are on hosts of the API and of discovery alone, also for an address', async () => {
  const paths = [
    `${AUTOCONFIG}?emailaddress=ann@a.example`,
    '/.well-known/autoconfig/mail/config-v1.1.xml?emailaddress=ann@a.example',
    '/autodiscover/autodiscover.json?email=ann@a.example&protocol=AutodiscoverV1',
  ];
  for (const path of paths) {
    for (const name of [HOSTNAME, 'autoconfig.a.example', 'autodiscover.a.example'])
      assert.equal(await statusOf(name, path), 200, `${name} ${path}`);
    for (const name of [LINKS, TRACK, 'mta-sts.a.example'])
      assert.equal(await statusOf(name, path), 404, `${name} ${path}`);
  }
});

test('hosts of an internationalized domain are served under their A-labels', async () => {
  const fields = { name: 'xn--bcher-kva.example', status: 'verified', verifiedSince: 0 } as const;
  await addDomain(world, fields);
  assert.equal(await statusOf('mta-sts.xn--bcher-kva.example', POLICY), 200);
  assert.equal(await statusOf('mta-sts.XN--BCHER-KVA.example', POLICY), 200);
  const { status } = await world.ask({
    ...{ name: 'mta-sts.xn--bcher-kva.example', host: 'mta-sts.bücher.example', path: POLICY },
  });
  assert.equal(status, 421);
});

test('a name that nothing is served under is answered 421, whatever its Host says, and all such answers are alike', async () => {
  const bodies = new Set<string>();
  for (const [name, host] of [
    ['unknown.example', 'unknown.example'],
    ['unknown.example', HOSTNAME],
    ['mta-sts.unknown.example', 'mta-sts.unknown.example'],
    ['a.example', 'a.example'],
    [`x.${HOSTNAME}`, `x.${HOSTNAME}`],
    [HOSTNAME, 'a.example'],
    [HOSTNAME, TRACK],
    [TRACK, HOSTNAME],
    [LINKS, HOSTNAME],
    ['mta-sts.a.example', LINKS],
    [HOSTNAME, '127.0.0.1'],
    [HOSTNAME, '[::1]:443'],
    [HOSTNAME, ''],
    [HOSTNAME, `${HOSTNAME}@evil.example`],
    [HOSTNAME, `evil.example, ${HOSTNAME}`],
    ['bücher.example', 'bücher.example'],
  ] as const) {
    const { status, body, head } = await world.ask({ name, host, path: '/healthz' });
    assert.equal(status, 421, `${name} ${host}`);
    assert.match(head, /^connection: close$/im);
    bodies.add(body.replace(/req_\w+/, ''));
  }
  assert.equal(bodies.size, 1, [...bodies].join('\n'));
});

test('the Host may have a port, upper case and a final dot', async () => {
  for (const host of [`${HOSTNAME}:8443`, HOSTNAME.toUpperCase(), `${HOSTNAME}.`, `${HOSTNAME}.:443`])
    assert.equal((await world.ask({ name: HOSTNAME, host, path: '/healthz' })).status, 200, host);
});

test('without a name in TLS the certificate and the content are those of the hostname', async () => {
  assert.equal((await world.ask({ host: HOSTNAME, path: '/healthz' })).status, 200);
  assert.equal((await world.ask({ host: TRACK, path: unsubscribe })).status, 421);
});

test('no Host and two are refused as invalid, and HTTP/1.0 without one has the host of TLS', async () => {
  assert.equal((await world.ask({ name: HOSTNAME, host: null, path: '/healthz' })).status, 400);
  for (const [first, second] of [
    [HOSTNAME, HOSTNAME],
    [HOSTNAME, 'evil.example'],
  ] as const) {
    const headers = [`Host: ${second}`];
    assert.equal((await world.ask({ name: HOSTNAME, host: first, headers, path: '/healthz' })).status, 400);
  }
  const asked = { host: null, version: '1.0', path: '/healthz' };
  assert.equal((await world.ask({ ...asked, name: HOSTNAME })).status, 200);
  assert.equal((await world.ask({ ...asked, name: TRACK })).status, 404);
});

test('the requests that follow on a connection are kept to its host, too', async () => {
  const socket = await world.open({ servername: TRACK });
  const request = (host: string, more = '') => `GET ${unsubscribe} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
  socket.write(request(TRACK) + request(HOSTNAME));
  let text = '';
  for await (const part of socket) text += part;
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 421']);
});

test('a refused POST is answered before its body', async () => {
  const headers = ['Content-Length: 10000000', 'Content-Type: application/json'];
  const { status } = await world.ask({
    name: HOSTNAME,
    host: TRACK,
    method: 'POST',
    path: '/v1/emails',
    headers,
  });
  assert.equal(status, 421);
});

test('hosts of a domain end with it, also on a connection that is open', async () => {
  const { id } = await addDomain(world, { name: 'b.example', status: 'verified', verifiedSince: 0 });
  const name = 'mta-sts.b.example';
  const socket = await world.open({ servername: name });
  const answers: string[] = [];
  const ask = async () => {
    const before = answers.length;
    socket.write(`GET ${POLICY} HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
    await waitUntil(() => answers.length > before);
    return answers.at(-1)?.slice(0, 12);
  };
  socket.on('data', (part: Buffer) => answers.push(part.toString()));
  assert.equal(await ask(), 'HTTP/1.1 200');
  await world.app.db.commit(endDomain, { id, tenantId: world.tenantId, now: 1 });
  assert.equal(await ask(), 'HTTP/1.1 404');
  assert.equal(await statusOf(name, POLICY), 421);
  socket.destroy();
});

test('without TLS, as behind a proxy, hosts choose the same routes, and all other names are those of the API', async () => {
  const { request } = await import('undici');
  const plain = async (host: string, path: string) => {
    const { statusCode, body } = await request(`${world.plainAddress}${path}`, { headers: { host } });
    await body.dump();
    return statusCode;
  };
  assert.equal(await plain('mta-sts.a.example', POLICY), 200);
  assert.equal(await plain('mta-sts.a.example', '/healthz'), 404);
  assert.equal(await plain('mta-sts.unknown.example', POLICY), 404);
  assert.equal(await plain('autoconfig.a.example', '/healthz'), 404);
  assert.equal(await plain('autoconfig.a.example', AUTOCONFIG), 200);
  assert.equal(await plain(TRACK, '/healthz'), 404);
  assert.equal(await plain('127.0.0.1', '/healthz'), 200);
});
