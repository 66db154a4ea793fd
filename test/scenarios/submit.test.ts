/** A person sends mail, to a daemon that ends at a crash point between DATA and 250 as with kill -9. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import Sqlite from 'better-sqlite3';
import { createClient } from '../mail/smtp/server/fixture.ts';
import { plain, submit } from '../submission/submission-world.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';

const ADDRESS = 'ann@sandbox.localhost';
const dns = await startDnsServer('');
const dataDir = newDataDirectory();
let daemon: DaemonProcess | undefined;
let password = '';
after(async () => {
  await daemon?.kill('SIGKILL');
  await dns.close();
});

/** Starts the daemon and sends a message. Returns the reply, or `closed` when the daemon has ended. */
async function send(crashAt: 'submission-before-commit' | 'submission-after-commit'): Promise<string> {
  const env = {
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_SUBMISSION_ENABLED: 'true',
    POSTRIDER_SUBMISSION_PORT: '0',
    POSTRIDER_SUBMISSION_TLS_PORT: '0',
  };
  daemon = await startDaemonProcess({ dataDir, env, crashAt });
  if (password === '')
    ({ password } = (await daemon.cli(['mailbox', 'create', ADDRESS])) as { password: string });
  const [, port] =
    /"addresses":\["127\.0\.0\.1:(\d+)","127[^\]]*\],"msg":"serving submission"/.exec(daemon.output()) ?? [];
  const client = createClient(
    connectTls({ socket: connect(Number(port), '127.0.0.1'), rejectUnauthorized: false }),
  );
  await client.reply();
  await client.ask('EHLO client.example\r\n');
  assert.match(await client.ask(`AUTH PLAIN ${plain(ADDRESS, password)}\r\n`), /^235/);
  // Held mail stays where it is.
  const parameters = ' HOLDFOR=3600';
  return submit(client, {
    from: ADDRESS,
    to: ADDRESS,
    parameters,
    message: `From: ${ADDRESS}\r\n\r\nHi\r\n`,
  });
}

function count(table: string): unknown {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    return database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  } finally {
    database.close();
  }
}

test('a crash before the commit loses nothing that was acknowledged, and one after it keeps the message', async () => {
  assert.equal(await send('submission-before-commit'), 'closed');
  assert.equal((await daemon?.exited)?.signal, 'SIGKILL');
  assert.deepEqual([count('messages'), count('submittedMessages'), count('recipientCounts')], [0, 0, 0]);
  assert.equal(await send('submission-after-commit'), 'closed');
  assert.equal((await daemon?.exited)?.signal, 'SIGKILL');
  assert.deepEqual([count('messages'), count('submittedMessages'), count('recipientCounts')], [1, 1, 2]);
});
