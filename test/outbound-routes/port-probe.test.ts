import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probePort25 } from '../../src/outbound-routes/port-probe.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../support/command-server.ts';
import { dialHosts, type Hosts } from '../support/loopback.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const dns = zoneDns('');
const { app } = closing(await openTestApp({ system: { dns, dial: dialHosts(hosts) } }));

async function states(): Promise<string> {
  const { ipv4, ipv6 } = await probePort25(app);
  return `${ipv4} ${ipv6}`;
}

test('nothing is known when DNS names no servers', async () => {
  assert.equal(await states(), 'unknown unknown');
});

test('a family is open when one server greets over it, and blocked when none does', async () => {
  dns.setZone(`gmail.com MX 5 mx.gmail.example
    mx.gmail.example A 192.0.2.10
    mx.gmail.example AAAA 2001:db8::10
    outlook.com MX 5 mx.outlook.example
    mx.outlook.example A 192.0.2.11`);
  assert.equal(await states(), 'blocked blocked');
  const server = closing(await startCommandServer(acceptEverything));
  hosts['192.0.2.11'] = server.port;
  assert.equal(await states(), 'open blocked');
});

test('a family without a route is told from one that is blocked', async () => {
  const dial = async () => Promise.reject(Object.assign(new Error('x'), { code: 'ENETUNREACH' }));
  const { ipv6, dialled } = await probePort25({ ...app, dial });
  assert.equal(ipv6, 'no-route');
  assert.equal(dialled[1]?.detail, 'there is no route to the network of the host (ENETUNREACH)');
});
