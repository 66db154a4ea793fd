/**
 * Mail programs for terminals: mutt, neomutt, alpine and aerc read a message, flag it and save it in another folder, with the
 * keys that a person presses. What each of them did is looked up on the server by another client.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { HOST, type MailboxServer, startMailboxServer } from './mailbox-server.ts';
import { startInTerminal } from './terminal.ts';

let server: MailboxServer;
/** File with all certificates of the daemon, for programs that may be shown either of them. */
let certificates: string;

before(async () => {
  server = await startMailboxServer();
  certificates = join(server.home, 'certificates.pem');
  const folder = join(server.daemon.dataDir, 'tls', 'self-signed');
  const files = ['ec.pem', 'rsa.pem'].map((name) => readFile(join(folder, name), 'utf8'));
  await writeFile(certificates, (await Promise.all(files)).join(''));
});

after(() => server?.stop());

for (const program of ['mutt', 'neomutt'] as const)
  test(`${program} reads, flags and saves a message`, async () => {
    const home = await newHome(program);
    const folder = `imaps://${HOST}:${server.imapPort}/`;
    const settings = [
      `set folder="${folder}" spoolfile="+INBOX" confirmappend=no delete=yes`,
      `set imap_user="${server.address}" imap_pass="${server.password}" ssl_force_tls=yes`,
    ];
    await writeFile(join(home, 'settings'), `${settings.join('\n')}\n`);
    await server.deliver(program, '\nGreetings');
    // A certificate that no authority has signed is accepted by a person.
    const command = `${program} -F ${join(home, 'settings')}`;
    const terminal = await startInTerminal(command, { env: { HOME: home }, text: '(o)nce' });
    await terminal.press('o', program);
    await terminal.press('F', '!');
    await terminal.press('\r', 'Greetings');
    await terminal.press('i', program);
    await terminal.press('s=Archive\r', 'D');
    await terminal.quit('q');
    await assertSaved(program);
  });

test('alpine reads, flags and saves a message', async () => {
  const home = await newHome('alpine');
  const mailbox = `{${HOST}:${server.imapPort}/ssl/user="${server.address}"}`;
  const settings = [
    `inbox-path=${mailbox}INBOX`,
    `folder-collections=Mail ${mailbox}[]`,
    'feature-list=quit-without-confirm,expunge-without-confirm,enable-flag-cmd',
    // Otherwise it begins with a page about its news.
    'last-version-used=6.26',
  ];
  await writeFile(join(home, 'pinerc'), `${settings.join('\n')}\n`);
  await server.deliver('alpine', '\nGreetings');
  const env = { HOME: home, SSL_CERT_FILE: certificates };
  const terminal = await startInTerminal(`alpine -i -p ${join(home, 'pinerc')}`, {
    env,
    text: 'ENTER PASSWORD',
  });
  await terminal.press(`${server.password}\r`, 'Preserve password');
  await terminal.press('n', 'Ann');
  await terminal.press('\r', 'Greetings');
  await terminal.press('*', 'Important');
  await terminal.press('*', 'Message 1 of 1');
  await terminal.press('S', 'SAVE');
  // It shows its progress when the server takes a while, and otherwise only the end.
  await terminal.press('Archive\r', /copied|DONE/);
  await terminal.quit('Q');
  await assertSaved('alpine');
});

test('aerc reads, flags and saves a message', async () => {
  const home = await newHome('aerc');
  const [user, password] = [server.address, server.password].map(encodeURIComponent);
  const source = `imaps://${user}:${password}@${HOST}:${server.imapPort}`;
  const settings = join(home, 'aerc');
  await mkdir(settings);
  const account = `[reader]\nsource = ${source}\nfrom = Reader <${server.address}>\n`;
  await writeFile(join(settings, 'accounts.conf'), account, { mode: 0o600 });
  await server.deliver('aerc', '\nGreetings');
  const env = { HOME: home, XDG_CONFIG_HOME: home, SSL_CERT_FILE: certificates };
  const terminal = await startInTerminal('aerc', { env, text: /2\d{3}-\d\d-\d\d.*aerc/ });
  await terminal.press(':flag\r', 'successful');
  await terminal.press('\r', 'Greetings');
  await terminal.press('q', 'Ann');
  await terminal.press(':mv Archive\r', 'Archive');
  await terminal.quit(':quit\r');
  await assertSaved('aerc');
});

async function newHome(program: string): Promise<string> {
  const home = join(server.home, program);
  await mkdir(home);
  return home;
}

/** The message with this subject was read and flagged, and is in the other folder alone. */
async function assertSaved(subject: string): Promise<void> {
  assert.ok(!(subject in (await server.flagsIn('INBOX'))));
  assert.deepEqual((await server.flagsIn('Archive'))[subject], ['\\Flagged', '\\Seen']);
}
