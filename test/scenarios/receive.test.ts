/** Mail to a daemon without a configuration file, with real processes that end at a crash point as with kill -9. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { sendMail } from '../inbound/mail-world.ts';
import { createClient } from '../mail/smtp/server/fixture.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';

const dns = await startDnsServer('');
const dataDir = newDataDirectory();
let daemon: DaemonProcess | undefined;
after(async () => {
  await daemon?.kill('SIGKILL');
  await dns.close();
});

/** Starts the daemon and sends it a message for its postmaster. Returns the reply, or `closed` when it has ended. */
async function send(crashAt: 'receive-before-commit' | 'receive-after-commit'): Promise<string> {
  const env = { POSTRIDER_DNS_SERVERS: dns.address };
  daemon = await startDaemonProcess({ dataDir, env, crashAt });
  const [, port] = /"smtpAddress":"127\.0\.0\.1:(\d+)"/.exec(daemon.output()) ?? [];
  const client = createClient(connect(Number(port), '127.0.0.1'));
  await client.reply();
  await client.ask('EHLO mail.sender.example\r\n');
  const message = 'From: ann@sender.example\r\nSubject: Hello\r\n\r\nHi\r\n';
  return await sendMail(client, { to: 'postmaster@localhost', message });
}

function countMessages(): unknown {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    return database.prepare('SELECT count(*) FROM receivedMessages').pluck().get();
  } finally {
    database.close();
  }
}

test('a crash before the commit loses nothing that was acknowledged, and one after it keeps the message', async () => {
  assert.equal(await send('receive-before-commit'), 'closed');
  assert.equal((await daemon?.exited)?.signal, 'SIGKILL');
  assert.equal(countMessages(), 0);
  assert.equal(await send('receive-after-commit'), 'closed');
  assert.equal((await daemon?.exited)?.signal, 'SIGKILL');
  assert.equal(countMessages(), 1);
});
