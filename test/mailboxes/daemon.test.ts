/** Mailboxes in a running daemon, with its threads: mail comes in by SMTP, and people read it by IMAP. */
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { after, before, type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import type { Worker } from 'node:worker_threads';
import { createTransport } from 'nodemailer';
import { explainStartFailure } from '../../src/cli/start-failure.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { createAppPassword } from '../../src/mailboxes/app-passwords/create.ts';
import { createMailbox } from '../../src/mailboxes/create.ts';
import { findMailboxByAddress, findMailboxById, insertMailbox } from '../../src/mailboxes/store.ts';
import { type Daemon, startDaemon } from '../../src/main.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { createClient, type TestClient } from '../mail/imap/fixture.ts';
import { type SieveClient, sieveClient } from '../mail/managesieve/fixture.ts';
import { browserAt } from '../support/browser.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { waitUntil } from '../support/wait-until.ts';

const PASSWORD = 'correct horse battery';
/** Number of logins of a mailbox that may fail. */
const FAILURES = 6;

let dns: DnsServer;
let daemon: Daemon;
let tenantId: Id<'ten'>;
let liveKey: string;
const clients: TestClient[] = [];
/** Threads that were started here, also those that have ended. */
const workers: Worker[] = [];
subscribe('worker_threads', (message) => workers.push((message as { worker: Worker }).worker));

before(async () => {
  dns = await startDnsServer();
  const env = {
    POSTRIDER_DATA_DIR: newDataDirectory(),
    POSTRIDER_HOSTNAME: 'mx.people.example',
    ...FREE_PORTS,
    POSTRIDER_SUBMISSION_ENABLED: 'true',
    POSTRIDER_SUBMISSION_PORT: '0',
    POSTRIDER_SUBMISSION_TLS_PORT: '0',
    POSTRIDER_MAILBOXES_FAILURES_PER_ACCOUNT: String(FAILURES),
    POSTRIDER_IMAP_STARTTLS: 'true',
    POSTRIDER_IMAP_STARTTLS_PORT: '0',
    POSTRIDER_STORAGE_RESERVE_MEGABYTES: '0',
    POSTRIDER_LOG_LEVEL: 'silent',
    // Nobody answers there, so no question leaves the machine.
    POSTRIDER_DNS_SERVERS: dns.address,
  };
  daemon = await startDaemon(loadConfig({ env }));
  const now = daemon.app.clock.now();
  tenantId = newId('ten', now);
  const tenant = { id: tenantId, name: 'people', plan: 'unlimited', createdAt: now } as const;
  await daemon.app.db.commit(insertTenant, tenant);
  const key = { name: 'key', mode: 'live', permission: 'full_access', expiresAt: null } as const;
  liveKey = (await createApiKey(daemon.app, { tenantId, ...key })).token;
});

after(async () => {
  for (const { socket } of clients) socket.destroy();
  await daemon.stop();
  await dns.close();
});

async function endThread(name: string): Promise<void> {
  const [worker, ...others] = workers.filter(
    ({ threadName, threadId }) => threadName === name && threadId > 0,
  );
  assert.ok(worker && others.length === 0);
  await worker.terminate();
}

async function threadsRunAgain(): Promise<void> {
  const url = `${daemon.address}/healthz`;
  assert.match(await (await fetch(url)).text(), /thread_restarting/);
  await waitUntil(async () => {
    const response = await fetch(url);
    // Somebody who asks this often is refused now and then.
    return response.ok && !(await response.text()).includes('thread_restarting');
  });
}

function addMailbox(name: string): Promise<MailboxRow> {
  const address = `${name}@sandbox.mx.people.example`;
  return createMailbox(daemon.app, tenantId, { address, password: PASSWORD });
}

/** Connects by IMAP, with TLS from the first byte. */
async function dial(): Promise<TestClient> {
  const [address = ''] = (await daemon.accessAddresses())?.imap ?? [];
  const port = Number(address.split(':').at(-1));
  const socket = connect({
    ...{ host: '127.0.0.1', port, servername: 'mx.people.example' },
    ...{ ALPNProtocols: ['imap'], rejectUnauthorized: false },
  });
  const client = createClient(socket);
  clients.push(client);
  await once(socket, 'secureConnect');
  assert.equal(socket.alpnProtocol, 'imap');
  assert.match(await client.line(), /^\* OK \[CAPABILITY IMAP4rev1 /);
  return client;
}

/** Connects by ManageSieve, with TLS after STARTTLS. */
async function dialSieve(t: TestContext): Promise<SieveClient> {
  const port = Number((await daemon.accessAddresses())?.managesieve[0]?.split(':').at(-1));
  const socket = connectTcp({ host: '127.0.0.1', port });
  t.after(() => socket.destroy());
  const plain = sieveClient(createClient(socket));
  await plain.completed();
  assert.match((await plain.run('STARTTLS')).join(), /^OK/);
  socket.removeAllListeners('data');
  const client = sieveClient(createClient(connect({ socket, rejectUnauthorized: false })));
  await client.completed();
  return client;
}

async function logIn(name: string, ...commands: string[]): Promise<TestClient> {
  const client = await dial();
  const login = await client.ask(`LOGIN ${name}@sandbox.mx.people.example "${PASSWORD}"`);
  assert.match(login.at(-1) ?? '', /^OK \[CAPABILITY /);
  for (const command of commands) assert.match((await client.ask(command)).at(-1) ?? '', /^OK/);
  return client;
}

async function send(name: string, subject: string): Promise<void> {
  const [host, port] = daemon.smtpAddress.split(':');
  const transport = createTransport({ host, port: Number(port), tls: { rejectUnauthorized: false } });
  const to = `${name}@sandbox.mx.people.example`;
  await transport.sendMail({ from: 'bob@sender.example', to, subject, text: 'Hello' });
  transport.close();
}

test('a daemon without mailboxes does not listen for IMAP; it begins with the first mailbox', async () => {
  assert.equal(await daemon.accessAddresses(), undefined);
  let isWoken = false;
  const end = daemon.app.wakeups.listen('mailboxes', () => {
    isWoken = true;
  });
  await addMailbox('ann');
  end();
  assert.equal(isWoken, true);
  await waitUntil(async () => (await daemon.accessAddresses()) !== undefined);
  assert.equal((await daemon.accessAddresses())?.imap.length, 2);
  const client = await dial();
  const wrong = await client.ask('LOGIN ann@sandbox.mx.people.example wrong');
  assert.match(wrong.at(-1) ?? '', /^NO \[AUTHENTICATIONFAILED\]/);
});

test('a message that comes by SMTP is pushed to a client in IDLE, and is read', async () => {
  const client = await logIn('ann', 'SELECT INBOX');
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  await send('ann', 'pushed');
  assert.equal(await client.line(), '* 1 EXISTS');
  client.send('DONE\r\n');
  await client.responses();
  const fetched = (await client.ask('FETCH 1 (ENVELOPE BODY.PEEK[])')).join('\n');
  assert.match(fetched, /"pushed"/);
  assert.match(fetched, /^Delivered-To: ann@sandbox\.mx\.people\.example/m);
  const appended = await client.ask('APPEND Drafts {14+}\r\nSubject: a\r\n\r\n');
  assert.match(appended.at(-1) ?? '', /^OK \[APPENDUID \d+ 1\]/);
});

test('the size and the number of messages are recorded', async () => {
  const mailbox = await addMailbox('eve');
  await send('eve', 'counted');
  await waitUntil(async () => {
    const row = await findMailboxById(daemon.app.db.read, mailbox.id);
    return row?.messageCount === 1 && row.usedBytes > 100;
  });
});

test('the sessions of a mailbox end with BYE when it is suspended, and others go on', async () => {
  const mailbox = await addMailbox('sue');
  const other = await logIn('ann', 'SELECT INBOX');
  const idle = await logIn('sue', 'SELECT INBOX');
  const waiting = await logIn('sue');
  await idle.ask('IDLE');
  const url = `${daemon.address}/v1/mailboxes/${mailbox.id}`;
  const headers = { authorization: `Bearer ${liveKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ status: 'suspended' });
  assert.equal((await fetch(url, { method: 'PATCH', headers, body })).status, 200);
  assert.match((await idle.rest()).join('\n'), /^\* BYE \[UNAVAILABLE\]/m);
  assert.match((await waiting.rest()).join('\n'), /^\* BYE \[UNAVAILABLE\]/m);
  const again = await dial();
  const refused = await again.ask(`LOGIN sue@sandbox.mx.people.example "${PASSWORD}"`);
  assert.match(refused.at(-1) ?? '', /^NO \[CONTACTADMIN\]/);
  assert.match((await other.ask('NOOP')).at(-1) ?? '', /^OK/);
});

test('the sessions of an app password end with BYE when it is revoked, and others of the mailbox go on', async () => {
  const mailbox = await addMailbox('ada');
  const { id, password } = await createAppPassword(daemon.app, tenantId, {
    ...{ mailboxId: mailbox.id, wanted: { name: 'Phone' } },
  });
  const other = await logIn('ada', 'SELECT INBOX');
  const idle = await dial();
  const login = await idle.ask(`LOGIN ada@sandbox.mx.people.example ${password}`);
  assert.match(login.at(-1) ?? '', /^OK/);
  await idle.ask('SELECT INBOX');
  await idle.ask('IDLE');
  const url = `${daemon.address}/v1/mailboxes/${mailbox.id}/app-passwords/${id}`;
  const headers = { authorization: `Bearer ${liveKey}` };
  assert.equal((await fetch(url, { method: 'DELETE', headers })).status, 204);
  assert.match((await idle.rest()).join('\n'), /^\* BYE \[AUTHORIZATIONFAILED\]/m);
  assert.match((await other.ask('NOOP')).at(-1) ?? '', /^OK/);
  const again = await dial();
  const refused = await again.ask(`LOGIN ada@sandbox.mx.people.example ${password}`);
  assert.match(refused.at(-1) ?? '', /^NO \[AUTHENTICATIONFAILED\]/);
});

test('a ManageSieve session ends with BYE when its app password is revoked', async (t) => {
  const mailbox = await addMailbox('adam');
  const wanted = { name: 'Filters' };
  const { id, password } = await createAppPassword(daemon.app, tenantId, { mailboxId: mailbox.id, wanted });
  const client = await dialSieve(t);
  const credentials = Buffer.from(`\0${mailbox.address}\0${password}`).toString('base64');
  assert.deepEqual(await client.run(`AUTHENTICATE "PLAIN" "${credentials}"`), ['OK "Logged in"']);
  assert.deepEqual(await client.run('LISTSCRIPTS'), ['OK']);
  const url = `${daemon.address}/v1/mailboxes/${mailbox.id}/app-passwords/${id}`;
  const headers = { authorization: `Bearer ${liveKey}` };
  assert.equal((await fetch(url, { method: 'DELETE', headers })).status, 204);
  assert.deepEqual(await client.rest(), ['BYE "The login does not stand any more"']);
});

type Listed = { id: string; protocol: string; client: string | null; appPassword: { name: string } | null };

async function sessionsOf({ id }: Pick<MailboxRow, 'id'>): Promise<Listed[]> {
  const headers = { authorization: `Bearer ${liveKey}` };
  const response = await fetch(`${daemon.address}/v1/mailboxes/${id}/sessions`, { headers });
  return ((await response.json()) as { data: Listed[] }).data;
}

async function endSessions({ id }: Pick<MailboxRow, 'id'>, body: { session?: string }): Promise<unknown> {
  const headers = { authorization: `Bearer ${liveKey}`, 'content-type': 'application/json' };
  const url = `${daemon.address}/v1/mailboxes/${id}/sessions/end`;
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

test('the sessions of a mailbox are listed with their programs and passwords, and end with BYE on request, one or all', async (t) => {
  const mailbox = await addMailbox('lea');
  const wanted = { name: 'Filters' };
  const { password } = await createAppPassword(daemon.app, tenantId, { mailboxId: mailbox.id, wanted });
  const other = await logIn('ann', 'SELECT INBOX');
  const early = await dial();
  assert.match((await early.ask('ID ("name" "Early" "version" "1.2")')).at(-1) ?? '', /^OK/);
  await early.ask(`LOGIN lea@sandbox.mx.people.example "${PASSWORD}"`);
  await early.ask('SELECT INBOX');
  await early.ask('IDLE');
  const late = await logIn('lea', 'ID ("version" "3" "name" "Late")');
  const sieve = await dialSieve(t);
  const credentials = Buffer.from(`\0${mailbox.address}\0${password}`).toString('base64');
  assert.deepEqual(await sieve.run(`AUTHENTICATE "PLAIN" "${credentials}"`), ['OK "Logged in"']);
  await waitUntil(async () => (await sessionsOf(mailbox)).some(({ client }) => client === 'Early 1.2'));
  const listed = await sessionsOf(mailbox);
  assert.deepEqual(
    listed.map(({ protocol, client, appPassword }) => [protocol, client, appPassword?.name]),
    [
      ['sieve', null, 'Filters'],
      ['imap', 'Late 3', undefined],
      ['imap', 'Early 1.2', undefined],
    ],
  );
  const session = listed.at(-1)?.id ?? '';
  assert.deepEqual(await endSessions(await addMailbox('leo'), { session }), { ended: 0 });
  assert.deepEqual(await endSessions(mailbox, { session }), { ended: 1 });
  assert.match((await early.rest()).join('\n'), /^\* BYE This session was ended on request$/m);
  assert.equal((await sessionsOf(mailbox)).length, 2);
  assert.deepEqual(await endSessions(mailbox, {}), { ended: 2 });
  assert.match((await late.rest()).join('\n'), /^\* BYE This session was ended on request$/m);
  assert.deepEqual(await sieve.rest(), ['BYE "This session was ended on request"']);
  assert.deepEqual(await sessionsOf(mailbox), []);
  assert.match((await other.ask('NOOP')).at(-1) ?? '', /^OK/);
});

test('a new quota holds for the next APPEND of a session that is open', async () => {
  const mailbox = await addMailbox('roy');
  const client = await logIn('roy');
  const append = async () => (await client.ask('APPEND Drafts {14+}\r\nSubject: a\r\n\r\n')).at(-1) ?? '';
  assert.match(await append(), /^OK/);
  const url = `${daemon.address}/v1/mailboxes/${mailbox.id}`;
  const headers = { authorization: `Bearer ${liveKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ quotaBytes: 20 });
  assert.equal((await fetch(url, { method: 'PATCH', headers, body })).status, 200);
  assert.match(await append(), /^NO \[OVERQUOTA\]/);
});

/** Returns the first message of a client that begins TLS. */
async function clientHello(): Promise<Buffer> {
  const [client, server] = duplexPair();
  const secure = connect({ socket: client, servername: 'mx.people.example' });
  secure.on('error', () => {});
  const [hello] = (await once(server, 'data')) as [Buffer];
  secure.destroy();
  return hello;
}

/** Connects without TLS, to the port that begins with it (0) or to that of STARTTLS (1). */
async function connectPlain(t: TestContext, listener: 0 | 1, localAddress = '127.0.0.1'): Promise<Socket> {
  const port = Number((await daemon.accessAddresses())?.imap[listener]?.split(':').at(-1));
  const socket = connectTcp({ host: '127.0.0.1', port, localAddress });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('a client is answered while many others begin TLS', async (t) => {
  const client = await logIn('ann');
  const hello = await clientHello();
  const sockets = await Promise.all(Array.from({ length: 60 }, () => connectPlain(t, 0)));
  let begun = 0;
  const all = sockets.map((socket) => once(socket, 'data').then(() => void begun++));
  for (const socket of sockets) socket.write(hello);
  assert.match((await client.ask('NOOP')).at(-1) ?? '', /^OK/);
  assert.ok(begun < 20, `${begun} handshakes came first`);
  await Promise.all(all);
});

test('before its login a client has little room, and few connections', async (t) => {
  const talk = async (localAddress: string) => {
    const client = createClient(await connectPlain(t, 1, localAddress));
    return { client, greeting: await client.line() };
  };
  const { client } = await talk('127.0.0.3');
  assert.match((await client.ask(`LOGIN {4097+}\r\n${'x'.repeat(4097)} y`)).join(), /^BAD \[LIMIT\]/);
  assert.match((await client.ask(`NOOP ${'x'.repeat(65_536)}`)).join(), /^BAD \[LIMIT\]/);
  for (let errors = 3; errors < 20; errors++) assert.match((await client.ask('SELECT INBOX')).join(), /^BAD/);
  client.send('z SELECT INBOX\r\n');
  assert.match((await client.rest()).join('\n'), /^\* BYE Too many errors$/m);
  const connected = await Promise.all(Array.from({ length: 200 }, () => talk('127.0.0.4')));
  for (const { greeting } of connected) assert.match(greeting, /^\* OK /);
  assert.match((await talk('127.0.0.4')).greeting, /^\* BYE \[UNAVAILABLE\] /);
  assert.match((await talk('127.0.0.5')).greeting, /^\* OK /);
});

test('when a thread of accounts dies, its sessions end with BYE, and people log in again', async () => {
  const idle = await logIn('ann', 'SELECT INBOX');
  await idle.ask('IDLE');
  await endThread('accounts-1');
  assert.match((await idle.rest()).join('\n'), /^\* BYE \[UNAVAILABLE\]/m);
  // The thread has lost its sessions, and their list is empty.
  const ann = await findMailboxByAddress(daemon.app.db.read, 'ann@sandbox.mx.people.example');
  assert.deepEqual(ann && (await sessionsOf(ann)), []);
  const early = await dial();
  const login = `LOGIN ann@sandbox.mx.people.example "${PASSWORD}"`;
  assert.match((await early.ask(login)).at(-1) ?? '', /^NO \[UNAVAILABLE\]/);
  await threadsRunAgain();
  const again = await logIn('ann');
  assert.match((await again.ask('SELECT INBOX')).join('\n'), /^\* 1 EXISTS$/m);
});

test('when the thread of the listeners dies, it listens again, and nothing else notices', async () => {
  const lost = await logIn('ann');
  await endThread('access');
  assert.equal(await lost.line(), 'closed');
  await threadsRunAgain();
  const again = await logIn('ann');
  assert.match((await again.ask('SELECT INBOX')).join('\n'), /^\* 1 EXISTS$/m);
});

test('an IMAP listener that cannot be opened keeps the daemon from starting', async (t) => {
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  t.after(() => void blocker.close());
  const { port } = blocker.address() as AddressInfo;
  const dataDir = newDataDirectory();
  const env = {
    ...FREE_PORTS,
    POSTRIDER_DATA_DIR: dataDir,
    POSTRIDER_IMAP_PORT: `${port}`,
    POSTRIDER_LOG_LEVEL: 'silent',
  };
  const config = loadConfig({ env });
  const first = await startDaemon(config);
  const tenant = { id: tenantId, name: 'people', plan: 'unlimited', createdAt: 1 } as const;
  await first.app.db.commit(insertTenant, tenant);
  const sandbox = 'sandbox.localhost';
  const mailbox = await findMailboxById(daemon.app.db.read, (await addMailbox('joe')).id);
  assert.ok(mailbox);
  const moved = { ...mailbox, address: `joe@${sandbox}`, domain: sandbox };
  await first.app.db.commit(insertMailbox, { mailbox: moved, sandbox });
  await first.stop();
  const failure = await startDaemon(config).then(
    () => assert.fail('it has started'),
    (error) => explainStartFailure(error, config),
  );
  assert.match((failure as Error).message, /port \d+ of 127\.0\.0\.1 is in use .* POSTRIDER_IMAP_PORT/);
});

/** Doors at which somebody tries a password, each with what it answers to a wrong one, and when too many have failed. */
const DOORS: Record<string, (address: string, password: string) => Promise<string>> = {
  async imap(address, password) {
    const client = await dial();
    const answer = (await client.ask(`LOGIN ${address} "${password}"`)).at(-1) ?? '';
    client.socket.destroy();
    return /^OK/.test(answer) ? 'open' : answer.includes('[AUTHENTICATIONFAILED]') ? 'wrong' : answer;
  },
  async smtp(user, pass) {
    const transport = createTransport({
      host: '127.0.0.1',
      port: Number(daemon.submissionAddress.split(':').at(-1)),
      requireTLS: true,
      tls: { rejectUnauthorized: false },
      auth: { user, pass },
    });
    try {
      await transport.verify();
      return 'open';
    } catch (error) {
      const { response = '' } = error as { response?: string };
      return response.startsWith('535') ? 'wrong' : response;
    } finally {
      transport.close();
    }
  },
  async dashboard(address, password) {
    const browser = browserAt(Number(new URL(daemon.address).port));
    await browser.open('/mailbox/login');
    const { url, html } = await browser.submit('login', { address, password });
    if (url === '/mailbox') return 'open';
    return html.includes('The address or the password is wrong') ? 'wrong' : html;
  },
};

test('failures over IMAP, SMTP and the dashboard share one budget, after which no door takes even the right password', async () => {
  const { address } = await addMailbox('gus');
  const doors = Object.entries(DOORS);
  assert.equal(FAILURES % doors.length, 0);
  for (let attempt = 0; attempt < FAILURES; attempt++) {
    const [name, tryAt] = doors[attempt % doors.length] ?? assert.fail();
    assert.equal(await tryAt(address, `wrong ${attempt}`), 'wrong', name);
  }
  for (const [name, tryAt] of doors) assert.match(await tryAt(address, PASSWORD), /too many/i, name);
  const { address: other } = await addMailbox('gil');
  for (const [name, tryAt] of doors) assert.equal(await tryAt(other, PASSWORD), 'open', name);
});
