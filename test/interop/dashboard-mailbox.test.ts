/** Flows of the owner of a mailbox: mail programs that are connected, senders of spam, and a forgotten password. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { ImapFlow } from 'imapflow';
import { freePort } from '../support/loopback.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import type { Visitor } from './dashboard/visitor.ts';
import { openWorld, RECEIVER_DOMAIN } from './dashboard/world.ts';
import { until } from './until.ts';

const sink = await startSmtpSink({ keepRaw: true });
const imapPort = await freePort();
const world = await openWorld({ smtpPort: sink.port, env: { POSTRIDER_IMAP_PORT: String(imapPort) } });
after(() => sink.close());
await world.addDomain('people.example');
// Mail to the mailboxes themselves leads to the sink too.
world.publish(`people.example MX 10 mx.${RECEIVER_DOMAIN}`);
const key = await world.newKey();

const PASSWORD = 'a password of the owner';
const NEW_PASSWORD = 'another password of the owner';

/** Connects as a mail program. The listener opens with the first mailbox. */
function connect(address: string, password: string): Promise<ImapFlow> {
  return until('IMAP', () => dial(address, password).catch(() => undefined));
}

async function dial(address: string, password: string): Promise<ImapFlow> {
  const client = new ImapFlow({
    ...{ host: '127.0.0.1', port: imapPort, secure: true, auth: { user: address, pass: password } },
    ...{ tls: { rejectUnauthorized: false }, logger: false, disableAutoIdle: true },
    clientInfo: { name: 'Letterbox', version: '2.1' },
  });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Makes a mailbox, and opens the pages of its owner. */
async function openMine(address: string, hasScripts: boolean): Promise<Visitor> {
  const made = await world.daemon.request('POST', '/v1/mailboxes', key, { address, password: PASSWORD });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const owner = await world.visit({ hasScripts, isLoggedIn: false });
  await logIn(owner, address, PASSWORD);
  return owner;
}

async function logIn(owner: Visitor, address: string, password: string): Promise<void> {
  await owner.open('/mailbox/login');
  await owner.fill('Email address', address);
  await owner.fill('Password', password);
  await owner.submit('Log in');
}

/** Returns the path of the link in the next mail to an address, and its text. */
async function nextLink(to: string, seen: number): Promise<string> {
  const mail = await until('a link', async () =>
    sink.messages.slice(seen).find(({ recipients }) => recipients.includes(to)),
  );
  const text = String(mail.raw).replaceAll('=\r\n', '');
  return /\/mailbox\/link\/[\w-]{43}/.exec(text)?.[0] ?? assert.fail(text);
}

for (const hasScripts of [true, false]) {
  const how = hasScripts ? 'with JavaScript' : 'without JavaScript';
  const number = hasScripts ? 1 : 2;

  test(`the owner disconnects a mail program, and lets in a sender that was taken for spam, ${how}`, async () => {
    const address = `mine${number}@people.example`;
    const owner = await openMine(address, hasScripts);
    const program = await connect(address, PASSWORD);
    await program.append('Junk', 'From: Shop <shop@good.example>\r\nSubject: Order\r\n\r\nThank you\r\n');
    await owner.page.getByRole('link', { name: 'Password and sessions' }).first().click();
    await owner.sees(/IMAP \(reading\)\s+Letterbox 2\.1\s+127\.0\.0\.1\s+password of the mailbox/);
    await owner.takeScreenshot(`my mailbox sessions ${how}`);
    const closed = once(program, 'close');
    await owner.submit(/^Disconnect/);
    await closed;
    await owner.sees('No mail program is connected at the moment.');

    await owner.page.getByRole('link', { name: 'Spam' }).first().click();
    await owner.sees(/shop@good\.example\s+Shop\s+as the server decides/);
    await owner.submit(/^Never spam/);
    await owner.sees(/never spam/);
    await owner.fill('Address', 'bad@spam.example');
    await owner.fill('Your choice', 'always');
    await owner.submit('Save');
    await owner.sees('bad@spam.example');
    await owner.takeScreenshot(`my mailbox spam ${how}`);
    await owner.page.getByRole('link', { name: 'All rules' }).click();
    await owner.sees(/sender is “bad@spam\.example”\s+move to Junk/);
    assert.deepEqual(owner.faults, []);
    await owner.close();
  });

  test(`the owner sets a forgotten password anew, by a link to a confirmed address, ${how}`, async () => {
    const address = `lost${number}@people.example`;
    const elsewhere = `private${number}@${RECEIVER_DOMAIN}`;
    const owner = await openMine(address, hasScripts);
    const program = await connect(address, PASSWORD);
    await owner.page.getByRole('link', { name: 'Recovery address' }).first().click();
    let seen = sink.messages.length;
    await owner.fill('Address', elsewhere);
    await owner.fill('Current password', PASSWORD);
    await owner.submit(/^Set the address/);
    await owner.sees(/waits for your confirmation/);
    await owner.takeScreenshot(`my mailbox recovery ${how}`);
    await owner.open(await nextLink(elsewhere, seen));
    await owner.submit('Confirm');
    await owner.sees('The recovery address is confirmed.');

    const stranger = await world.visit({ hasScripts, isLoggedIn: false });
    await stranger.open('/login');
    await stranger.page.getByRole('link', { name: 'Forgot the password of a mailbox?' }).click();
    seen = sink.messages.length;
    await stranger.fill('Address of the mailbox', address);
    await stranger.submit('Mail a link');
    await stranger.sees('a link is on its way there');
    await stranger.takeScreenshot(`my mailbox forgotten ${how}`);
    const closed = once(program, 'close');
    await stranger.open(await nextLink(elsewhere, seen));
    await stranger.takeScreenshot(`my mailbox new password ${how}`);
    await stranger.fill(/^New password/, NEW_PASSWORD);
    await stranger.submit('Set a new password');
    await stranger.sees('The password has changed');
    await closed;
    await logIn(stranger, address, NEW_PASSWORD);
    await stranger.sees(address);
    await owner.open('/mailbox');
    assert.match(owner.page.url(), /\/mailbox\/login/);
    await until('the notice to the mailbox', async () =>
      sink.messages.some(
        ({ recipients, raw }) =>
          recipients.includes(address) &&
          /^Subject: The password of your mailbox was changed/m.test(String(raw)),
      ),
    );
    await (await connect(address, NEW_PASSWORD)).logout();
    assert.deepEqual([...owner.faults, ...stranger.faults], []);
    await owner.close();
    await stranger.close();
  });
}
