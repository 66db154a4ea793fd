/** Tests of the port without TLS beside HTTPS: what it redirects, and what it refuses. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { addDomain } from '../domains/fixtures.ts';
import { HOSTNAME, type HttpsWorld, openHttpsWorld } from './world.ts';

let world: HttpsWorld;
before(async () => {
  world = await openHttpsWorld();
  await addDomain(world, { name: 'a.example', status: 'verified', productType: 'both', verifiedSince: 0 });
});
after(() => world.close());

const locationOf = (head: string) => /^location: (.*)$/im.exec(head)?.[1];

test('requests for known hosts lead to the same host, path and query with TLS, whatever the method', async () => {
  for (const [host, method] of [
    [HOSTNAME, 'GET'],
    [`${HOSTNAME.toUpperCase()}:80`, 'POST'],
    ['autoconfig.a.example', 'GET'],
    [`track.${HOSTNAME}`, 'OPTIONS'],
  ] as const) {
    const { status, head } = await world.redirect('/a?b=c', { Host: host }, method);
    const name = host.toLowerCase().replace(':80', '');
    assert.deepEqual([status, locationOf(head)], [308, `https://${name}:${world.httpsPort()}/a?b=c`]);
  }
});

test('nobody is led to a host that is not served here', async () => {
  for (const host of [
    'evil.example',
    '127.0.0.1',
    '',
    'mta-sts.evil.example',
    'a.example',
    `${HOSTNAME}@evil.example`,
  ]) {
    const { status, head } = await world.redirect('/', { Host: host });
    assert.deepEqual([status, locationOf(head)], [421, undefined], host);
  }
  const { status } = await world.redirect('http://evil.example/', { Host: HOSTNAME });
  assert.equal(status, 421);
  assert.equal((await world.redirect('/', {})).status, 400);
});

test('credentials are refused and not redirected, at every host and path', async () => {
  for (const [path, host] of [
    ['/v1/emails', HOSTNAME],
    ['/', 'evil.example'],
    ['/.well-known/acme-challenge/a', HOSTNAME],
  ] as const) {
    const headers = { Host: host, Authorization: `Bearer ${world.liveKey}` };
    const { status, head, body } = await world.redirect(path, headers, 'POST');
    assert.deepEqual([status, locationOf(head)], [403, undefined]);
    assert.doesNotMatch(body, new RegExp(world.liveKey));
  }
});

test('a challenge without an order is not found, and is not redirected', async () => {
  const { status } = await world.redirect('/.well-known/acme-challenge/unknown', { Host: HOSTNAME });
  assert.equal(status, 404);
});

test('a request is answered before its body', async () => {
  const socket = connect(world.redirectPort(), '127.0.0.1');
  socket.write(`POST /v1/emails HTTP/1.1\r\nHost: ${HOSTNAME}\r\nContent-Length: 100000\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 308 /);
  socket.destroy();
});
