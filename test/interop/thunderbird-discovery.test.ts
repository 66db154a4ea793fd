/**
 * Thunderbird, which runs without a display, gets a name, an address and a password alone, and finds the servers by itself. A web proxy
 * stands for the DNS record `autoconfig` of the domain and for the operator's web server: it passes on what is asked of that host.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type MailboxServer, startMailboxServer } from './mailbox-server.ts';
import { startThunderbird, type Thunderbird } from './thunderbird/thunderbird.ts';
import { until } from './until.ts';

const HOST = 'mail.discovery.test';
const DOMAIN = `sandbox.${HOST}`;

/** Requests to the host of the domain, as they came. */
const asked: string[] = [];
/** Other hosts do not exist, and no host answers TLS. */
const proxy = createServer((incoming, outgoing) => {
  const { host, pathname, search } = new URL(incoming.url ?? '');
  if (host !== `autoconfig.${DOMAIN}`) return void outgoing.writeHead(502).end();
  asked.push(`${incoming.method} ${pathname}${search}`);
  const { hostname, port } = new URL(server.daemon.address);
  const headers = { host, 'x-forwarded-for': '127.0.0.1' };
  const sent = request({ hostname, port, path: `${pathname}${search}`, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on('error', () => outgoing.destroy());
  sent.end();
});

let server: MailboxServer;
let thunderbird: Thunderbird;

before(async () => {
  server = await startMailboxServer(HOST);
  await server.deliver('Tea');
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  thunderbird = await startThunderbird(server.home, {
    'network.proxy.http_port': port,
    'network.proxy.ssl_port': port,
    'network.dns.localDomains': HOST,
  });
});

after(async () => {
  await thunderbird?.stop();
  proxy.close();
  await server?.stop();
});

test('an address and a password are enough to read mail', async () => {
  const { address, password: secret, imapPort, certificate, submission } = server;
  const pem = await readFile(certificate, 'utf8');
  await thunderbird.run('trustCertificate', { pem, host: HOST, ports: [imapPort, submission.tlsPort] });
  const shown = await thunderbird.run<string>('addAccountByAddress', { address, secret });
  assert.match(shown, new RegExp(HOST.replaceAll('.', '\\.')));
  await until('the account exists', () => thunderbird.run<boolean>('hasAccount'));
  assert.deepEqual(await thunderbird.run('servers'), {
    incoming: ['imap', HOST, imapPort, address],
    outgoing: [HOST, submission.tlsPort, address],
  });
  assert.ok(
    asked.some((line) => line.startsWith('GET /mail/config-v1.1.xml?emailaddress=')),
    asked.join(),
  );
  await thunderbird.run('openFolder', 'INBOX');
  await until('the message is listed', async () =>
    (await thunderbird.run<string[]>('listedMessages')).includes('Tea'),
  );
});

test('a message is sent, its reply arrives, and a wrong address comes back as a message', async () => {
  const [to, nobody] = [`friend@${DOMAIN}`, `nobody@${DOMAIN}`];
  await server.daemon.cli(['mailbox', 'alias', 'add', server.address, to]);
  await thunderbird.run('send', { to, subject: 'Cake', text: 'At five.' });
  await thunderbird.run('send', { to: nobody, subject: 'Bread', text: 'At six.' });
  // Thunderbird would show a reply with the same subject within the thread of its message.
  await server.deliver('An answer');
  const expected = ['An answer', 'Cake', 'Tea', 'Your message could not be delivered'];
  let listed: string[] = [];
  const isComplete = async () => {
    listed = await thunderbird.run<string[]>('listedMessages');
    return listed.length === expected.length;
  };
  await until('all messages are listed', isComplete).catch(() => undefined);
  assert.deepEqual(listed, expected);
});
