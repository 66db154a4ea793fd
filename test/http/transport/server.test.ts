import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../serve.ts';

const { server } = await serve({ trustedProxies: ['127.0.0.1', '2001:db8::1', '192.0.2.9'] }, (routes) => {
  routes.get('/who', async (request) => ({
    address: request.clientAddress,
    host: request.host,
    protocol: request.protocol,
  }));
});

async function who(remoteAddress: string, headers: Record<string, string> = {}) {
  const response = await server.inject({
    url: '/who',
    remoteAddress,
    headers: { host: 'api.test', ...headers },
  });
  return response.json();
}

const addressOf = async (peer: string, forwardedFor: string) =>
  (await who(peer, { 'x-forwarded-for': forwardedFor })).address;

test('without the header the client is the peer, a trusted proxy or not', async () => {
  for (const peer of ['127.0.0.1', '203.0.113.5', '2001:db8::7'])
    assert.equal((await who(peer)).address, peer);
});

test('the header of a peer that is not a trusted proxy is not read', async () => {
  for (const peer of ['127.0.0.2', '203.0.113.5', '2001:db8::7'])
    assert.equal(await addressOf(peer, '198.51.100.1'), peer);
});

test('behind a trusted proxy the client is the last address that is not a trusted proxy', async () => {
  for (const [forwardedFor, client] of [
    ['198.51.100.1', '198.51.100.1'],
    ['10.0.0.1, 198.51.100.1', '198.51.100.1'],
    ['198.51.100.1,192.0.2.9', '198.51.100.1'],
    ['10.0.0.1, 198.51.100.1 , 2001:DB8:0::1,192.0.2.9', '198.51.100.1'],
    ['10.0.0.1, ::ffff:198.51.100.1', '198.51.100.1'],
    ['2001:DB8::7', '2001:db8::7'],
    ['192.0.2.9, 127.0.0.1', '192.0.2.9'],
    ['198.51.100.1,', '198.51.100.1'],
    ['', '127.0.0.1'],
  ] as const)
    assert.equal(await addressOf('127.0.0.1', forwardedFor), client, forwardedFor);
});

test('a proxy is recognised in each form of its address', async () => {
  for (const peer of ['::ffff:127.0.0.1', '2001:DB8:0::1'])
    assert.equal(await addressOf(peer, '198.51.100.1'), '198.51.100.1', peer);
});

test('an entry that is not an address gives an unknown client, and earlier entries are not read', async () => {
  for (const text of ['unknown', '198.51.100.1:443', '[2001:db8::7]', '198.51.100.1, _hidden', '127.1'])
    assert.equal(await addressOf('127.0.0.1', text), 'unknown', text);
});

test('no other forwarding header is read', async () => {
  const forwarded = {
    'x-forwarded-host': 'evil.test',
    'x-forwarded-proto': 'https',
    'x-real-ip': '198.51.100.1',
    forwarded: 'for=198.51.100.1;host=evil.test;proto=https',
  };
  for (const peer of ['127.0.0.1', '203.0.113.5'])
    assert.deepEqual(await who(peer, forwarded), { address: peer, host: 'api.test', protocol: 'http' });
});

test('an address with a zone in the header is unknown, and the address of a peer may have one', async () => {
  for (const text of ['fe80::1%eth0', 'fe80::1%a.b', '192.0.2.9, fe80::1%eth0.100'])
    assert.equal(await addressOf('127.0.0.1', text), 'unknown', text);
  assert.equal(await addressOf('fe80::1%eth0.100', '198.51.100.1'), 'fe80::1%eth0.100');
});
