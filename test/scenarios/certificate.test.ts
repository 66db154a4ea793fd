/** A certificate that is renewed while a real daemon receives mail over STARTTLS. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import Sqlite from 'better-sqlite3';
import { writePair } from '../certificates/files.ts';
import { sendMail } from '../inbound/mail-world.ts';
import { createClient, type TestClient } from '../mail/smtp/server/fixture.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { EC_PAIR, RSA_PAIR } from '../system/certificate-pairs.ts';

/** Sessions in each of these states while the files are replaced. One address has at most 50 connections. */
const SESSIONS = 8;
/** Clients that send one message after another, each in a connection of its own. */
const SENDERS = 4;
const MESSAGE = 'From: ann@sender.example\r\nSubject: Hello\r\n\r\nHi\r\n';
const TO = 'postmaster@mx.example';

const dns = await startDnsServer('');
let daemon: DaemonProcess | undefined;
after(async () => {
  await daemon?.kill('SIGKILL');
  await dns.close();
});

async function start(folder: string): Promise<{ daemon: DaemonProcess; port: number }> {
  const files = writePair(folder, RSA_PAIR);
  const config = join(folder, 'postrider.yaml');
  writeFileSync(config, JSON.stringify({ hostname: 'mx.example', tls: { certificates: [files] } }));
  daemon = await startDaemonProcess({
    env: {
      POSTRIDER_CONFIG: config,
      POSTRIDER_DNS_SERVERS: dns.address,
      POSTRIDER_SMTP_ADDRESS: '127.0.0.1',
    },
  });
  const started = daemon;
  const readPort = () => /"smtpAddress":"127\.0\.0\.1:(\d+)"/.exec(started.output())?.[1];
  await waitUntil(() => readPort() !== undefined, 'the daemon has written its addresses into the log');
  return { daemon, port: Number(readPort()) };
}

/** Opens a session up to the reply to EHLO. */
async function greet(port: number): Promise<TestClient> {
  const client = createClient(connect(port, '127.0.0.1'));
  await client.reply();
  await client.ask('EHLO mail.sender.example\r\n');
  return client;
}

/** Brings a session to the state in which it has TLS. */
async function encrypt(client: TestClient): Promise<TestClient> {
  assert.match(await client.ask('STARTTLS\r\n'), /^220 /);
  const secure = await client.encrypt();
  await secure.ask('EHLO mail.sender.example\r\n');
  return secure;
}

async function beginMessage(client: TestClient): Promise<TestClient> {
  await client.ask('MAIL FROM:<ann@sender.example>\r\n');
  await client.ask(`RCPT TO:<${TO}>\r\n`);
  assert.match(await client.ask('DATA\r\n'), /^354 /);
  client.send(MESSAGE.slice(0, 20));
  return client;
}

function keyTypeOf({ socket }: TestClient): string | undefined {
  assert.ok(socket instanceof TLSSocket);
  return socket.getPeerX509Certificate()?.publicKey.asymmetricKeyType;
}

async function sendAll(port: number, isOver: () => boolean): Promise<string[]> {
  const replies: string[] = [];
  while (!isOver()) {
    const client = await encrypt(await greet(port));
    replies.push(await sendMail(client, { to: TO, message: MESSAGE }));
    client.socket.destroy();
    await sleep(20);
  }
  return replies;
}

test('files that are replaced under load drop no session, and new ones are shown the new certificate', async () => {
  const folder = temporaryDirectory('certificate');
  const { daemon, port } = await start(folder);
  const many = <Item>(make: () => Promise<Item>) => Promise.all(Array.from({ length: SESSIONS }, make));
  const plain = await many(() => greet(port));
  const idle = await many(async () => encrypt(await greet(port)));
  const busy = await many(async () => beginMessage(await encrypt(await greet(port))));
  let isOver = false;
  const senders = Array.from({ length: SENDERS }, () => sendAll(port, () => isOver));

  writePair(folder, EC_PAIR);
  await daemon.cli(['certificates', 'reload']);
  const fresh = await encrypt(await greet(port));
  assert.equal(keyTypeOf(fresh), 'ec');
  isOver = true;
  const replies = (await Promise.all(senders)).flat();

  for (const client of [...idle, ...busy]) assert.equal(keyTypeOf(client), 'rsa');
  const upgraded = await Promise.all(plain.map(encrypt));
  for (const client of upgraded) assert.equal(keyTypeOf(client), 'ec');
  const ended = busy.map((client) => client.ask(`${MESSAGE.slice(20)}.\r\n`));
  const sent = [...idle, ...upgraded, fresh].map((client) => sendMail(client, { to: TO, message: MESSAGE }));
  replies.push(...(await Promise.all([...ended, ...sent])));
  assert.deepEqual(
    replies.filter((reply) => !reply.startsWith('250 2.0.0 Ok: queued as in_')),
    [],
  );
  for (const { socket } of [...idle, ...busy, ...upgraded, fresh]) socket.destroy();
  await daemon.stop();
  const database = new Sqlite(join(daemon.dataDir, 'postrider.db'), { readonly: true });
  const count = database.prepare('SELECT count(*) FROM receivedMessages').pluck().get();
  database.close();
  assert.equal(count, replies.length);
  assert.ok(replies.length > 3 * SESSIONS + SENDERS, `${replies.length} messages`);
});
