/** Mail moves in from a real Dovecot: all of it, once, wherever the daemon is killed, and later what is new. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ImapConnection } from '../bench/imap/client.ts';
import {
  DOVECOT_HOST,
  DOVECOT_PACKAGES,
  type DovecotPeer,
  startDovecot,
} from '../bench/imap/dovecot-peer.ts';
import { sampleMessages } from '../bench/imap/messages.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { installPackages } from '../support/debian.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { until } from './until.ts';

const ADDRESS = 'mover@sandbox.localhost';
const MESSAGES = 1_000;

const dataDir = temporaryDirectory('imports');
let dovecot: DovecotPeer;
let dns: DnsServer;
let daemon: DaemonProcess;
let source: ImapConnection;

before(async () => {
  assert.equal(installPackages(DOVECOT_PACKAGES), undefined);
  dovecot = await startDovecot({ newFolder }, 'maildir', 1);
  dns = await startDnsServer(`${DOVECOT_HOST} A 127.0.0.1`);
  const [user] = dovecot.users;
  source = await ImapConnection.login(dovecot.port, user ?? assert.fail());
  await source.run('CREATE Lists');
  await source.run('CREATE Lists.dev');
  await source.append('INBOX', sampleMessages(MESSAGES));
  await source.append('Lists.dev', sampleMessages(10, MESSAGES));
  await source.run('SELECT INBOX');
  await source.run('STORE 1:10 +FLAGS (\\Seen $Forwarded todo)');
  daemon = await start();
  await daemon.cli(['mailbox', 'create', ADDRESS]);
});

after(async () => {
  source?.close();
  await daemon?.stop();
  await dovecot?.[Symbol.asyncDispose]();
  await dns?.close();
});

/** Returns a new folder, which Dovecot's processes of the user `nobody` can enter. */
function newFolder(): string {
  const folder = temporaryDirectory('dovecot-source');
  chmodSync(folder, 0o755);
  return folder;
}

function start(crashAt?: string): Promise<DaemonProcess> {
  const env = {
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: dovecot.certificate,
  };
  return startDaemonProcess({ dataDir, env, ...(crashAt !== undefined && { crashAt }) });
}

type Import = { id: string; status: string; imported: number; known: number; failed: number; error: string };

/** Starts an import through the API, as soon as the daemon has caught up with its start. */
async function startImport(key: string): Promise<string> {
  const mailbox = (await daemon.cli(['mailbox', 'show', ADDRESS])) as { id: string };
  const [user] = dovecot.users;
  const wanted = { host: DOVECOT_HOST, port: dovecot.port, user: user?.username, password: user?.password };
  return until('the import is started', async () => {
    const made = await daemon.request('POST', `/v1/mailboxes/${mailbox.id}/imports`, key, wanted);
    if (made.status === 503) return false;
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return (made.body as Import).id;
  });
}

const show = async (id: string) => (await daemon.cli(['mailbox', 'imports', 'show', id])) as Import;

async function ended(id: string): Promise<Import> {
  return until('the import ends', async () => {
    const found = await show(id);
    return ['completed', 'failed'].includes(found.status) && found;
  });
}

/** Checks the flags and keywords of the imported messages in a maildir that they are exported to. */
async function assertFlags(): Promise<void> {
  const directory = join(temporaryDirectory('exported'), 'maildir');
  await daemon.cli(['mailbox', 'export', ADDRESS, directory]);
  const [passed, seen, keyword] = ['P', 'S', 'a'];
  const flagged = readdirSync(join(directory, 'cur')).filter((name) =>
    name.endsWith(`:2,${passed}${seen}${keyword}`),
  );
  assert.equal(flagged.length, 10);
  assert.equal(readFileSync(join(directory, 'dovecot-keywords'), 'utf8'), '0 todo\n');
}

test('an import survives kills around its commits, and a later one adds what is new', async () => {
  const key = daemon.testKey ?? assert.fail('the first start makes a key');
  await daemon.stop();
  daemon = await start('import-after-commit');
  const id = await startImport(key);
  for (const point of ['import-before-commit', 'import-after-commit', undefined]) {
    await daemon.exited;
    daemon = await start(point);
  }
  const first = await ended(id);
  assert.deepEqual([first.status, first.failed, first.error], ['completed', 0, null]);
  await until('the size is recorded', async () => {
    const shown = (await daemon.cli(['mailbox', 'show', ADDRESS])) as { messageCount: number };
    return shown.messageCount === MESSAGES + 10;
  });
  await assertFlags();
  await source.append('INBOX', sampleMessages(3, 5_000));
  const second = await ended(await startImport(key));
  assert.deepEqual([second.imported, second.known], [3, MESSAGES + 10]);
});
