/**
 * Mail that servers and people hand to a real daemon, which ends right after its commit as with kill -9. A reply before
 * the commit would arrive, and a message after it would be lost.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import Sqlite from 'better-sqlite3';
import type { CrashPointName } from '../../src/crash-points.ts';
import { sendMail } from '../inbound/mail-world.ts';
import { createClient } from '../mail/smtp/server/fixture.ts';
import { plain, submit } from '../submission/submission-world.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';

const ADDRESS = 'ann@sandbox.localhost';
const dns = await startDnsServer('');
const dataDir = newDataDirectory();
let daemon: DaemonProcess | undefined;
after(async () => {
  await daemon?.kill('SIGKILL');
  await dns.close();
});

/** Starts the daemon, and returns it with the port that the log names. */
async function start(crashAt: CrashPointName, named: RegExp) {
  const env = {
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_SUBMISSION_ENABLED: 'true',
    POSTRIDER_SUBMISSION_PORT: '0',
    POSTRIDER_SUBMISSION_TLS_PORT: '0',
  };
  daemon = await startDaemonProcess({ dataDir, env, crashAt });
  return { daemon, port: Number(named.exec(daemon.output())?.[1]) };
}

async function assertKept(reply: string, rows: Record<string, number>): Promise<void> {
  assert.equal(reply, 'closed');
  assert.equal((await daemon?.exited)?.signal, 'SIGKILL');
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  for (const [table, count] of Object.entries(rows))
    assert.equal(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), count, table);
  database.close();
}

test('a server gets no reply before its message is kept', async () => {
  const { port } = await start('receive-after-commit', /"smtpAddress":"127\.0\.0\.1:(\d+)"/);
  const client = createClient(connect(port, '127.0.0.1'));
  await client.reply();
  await client.ask('EHLO mail.sender.example\r\n');
  const message = 'From: ann@sender.example\r\nSubject: Hello\r\n\r\nHi\r\n';
  await assertKept(await sendMail(client, { to: 'postmaster@localhost', message }), { receivedMessages: 1 });
});

test('a person gets no reply before the message is kept', async () => {
  const named = /"addresses":\["127\.0\.0\.1:(\d+)","127[^\]]*\],"msg":"serving submission"/;
  const started = await start('submission-after-commit', named);
  const { password } = (await started.daemon.cli(['mailbox', 'create', ADDRESS])) as { password: string };
  const socket = connect(started.port, '127.0.0.1');
  const client = createClient(connectTls({ socket, rejectUnauthorized: false }));
  await client.reply();
  await client.ask('EHLO client.example\r\n');
  assert.match(await client.ask(`AUTH PLAIN ${plain(ADDRESS, password)}\r\n`), /^235/);
  const reply = await submit(client, {
    from: ADDRESS,
    to: ADDRESS,
    // Held mail stays where it is.
    parameters: ' HOLDFOR=3600',
    message: `From: ${ADDRESS}\r\n\r\nHi\r\n`,
  });
  await assertKept(reply, { submittedMessages: 1, recipientCounts: 2 });
});
