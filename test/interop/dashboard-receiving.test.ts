/** Flows through the pages about receiving: a mailbox that a mail program reads, and the automatic reply that its owner sets. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { freePort } from '../support/loopback.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { findViolations } from './browser.ts';
import { openWorld, RECEIVER_DOMAIN } from './dashboard/world.ts';
import { until } from './until.ts';

const sink = await startSmtpSink({ keepRaw: true });
const [imapPort, smtpPort] = [await freePort(), await freePort()];
const world = await openWorld({
  smtpPort: sink.port,
  env: { POSTRIDER_IMAP_PORT: String(imapPort), POSTRIDER_SMTP_PORT: String(smtpPort) },
});
const smtp = createTransport({ host: '127.0.0.1', port: smtpPort, tls: { rejectUnauthorized: false } });
/** A server of another provider, which accepts connections and never says anything. */
const silent = createServer();
await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
after(async () => {
  silent.close();
  smtp.close();
  await sink.close();
});

await world.addDomain('people.example');
world.publish('imap.old.example A 127.0.0.1');

const LIVE = '/t/default/live';
/** Makes addresses of each flow its own. */
const addressOf = (who: string, hasScripts: boolean) => `${who}${hasScripts ? 1 : 2}@people.example`;

async function deliver(to: string, subject: string): Promise<void> {
  const raw = `From: Ann <ann@${RECEIVER_DOMAIN}>\r\nTo: ${to}\r\nSubject: ${subject}\r\nMessage-ID: <${Date.now()}.${to}>\r\nDate: ${new Date().toUTCString()}\r\n\r\nHello\r\n`;
  await smtp.sendMail({ envelope: { from: `ann@${RECEIVER_DOMAIN}`, to }, raw });
}

async function subjectsIn(address: string, password: string): Promise<(string | undefined)[]> {
  const client = new ImapFlow({
    ...{ host: '127.0.0.1', port: imapPort, secure: true, auth: { user: address, pass: password } },
    ...{ tls: { rejectUnauthorized: false }, logger: false, disableAutoIdle: true },
  });
  await client.connect();
  try {
    await client.mailboxOpen('INBOX', { readOnly: true });
    return (await client.fetchAll('1:*', { envelope: true })).map(({ envelope }) => envelope?.subject);
  } finally {
    await client.logout();
  }
}

world.flow(
  'a mailbox is made, its password is shown once, and IMAP reads it',
  async ({ open, fill, submit, sees, disclose, page, hasScripts }) => {
    const address = addressOf('reader', hasScripts);
    await open(`${LIVE}/mailboxes`);
    await disclose('Create a mailbox');
    await fill('Address', address);
    await submit('Create a mailbox');
    await sees('The mailbox is ready');
    const [password = ''] = await page.locator('main .copyable code').allInnerTexts();
    await deliver(address, 'The first letter');
    await until('the letter has arrived', async () =>
      (await subjectsIn(address, password)).includes('The first letter'),
    );
    await page.getByRole('link', { name: 'To the mailbox' }).click();
    await sees(address);
    assert.ok(!(await page.content()).includes(password));
  },
);

world.flow(
  'an import of a mailbox shows its progress, and its page waits while somebody is about to delete it',
  async ({ open, fill, submit, disclose, sees, page, hasScripts }) => {
    const address = addressOf('import', hasScripts);
    const mailbox = { address, password: 'a password of the mailbox' };
    const made = await world.daemon.request('POST', '/v1/mailboxes', await world.newKey(), mailbox);
    const { id } = made.body as { id: string };
    await open(`/t/default/live/mailboxes/${id}/imports`);
    await disclose('Import mail from another server');
    await fill('IMAP server', 'imap.old.example');
    await fill(/^Port/, String((silent.address() as AddressInfo).port));
    await fill('User name there', 'ann');
    await fill('Password there', 'secret');
    await submit('Import mail from another server');
    await sees('ann (imap.old.example)');
    await sees('Reload');
    if (!hasScripts) return;
    // The mark goes with the part when another one takes its place.
    const mark = () => page.evaluate(`document.querySelector('#imports').isMarked = true`);
    const isReplaced = () => page.evaluate<boolean>(`document.querySelector('#imports').isMarked !== true`);
    const refresh = async () => {
      const answered = page.waitForResponse((response) => response.url().includes('/imports'));
      await page.evaluate(`document.querySelector('#imports').dispatchEvent(new Event('changed'))`);
      await (await answered).finished();
    };
    const opener = page.locator('#imports summary');
    await mark();
    await opener.click();
    await refresh();
    await refresh();
    assert.equal(await isReplaced(), false, 'the question before deleting stays');
    await opener.click();
    await page.locator('h1').click();
    await opener.evaluate((element) => (element as HTMLElement).blur());
    await refresh();
    await until('the part is replaced', isReplaced);
    assert.deepEqual(await findViolations(page), []);
  },
);

const OWNER_PASSWORD = 'a password of the owner';

for (const hasScripts of [true, false]) {
  test(`the owner of a mailbox sets an automatic reply, ${hasScripts ? 'with' : 'without'} JavaScript`, async () => {
    const address = addressOf('owner', hasScripts);
    const key = await world.newKey();
    const made = await world.daemon.request('POST', '/v1/mailboxes', key, {
      address,
      password: OWNER_PASSWORD,
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const owner = await world.visit({ hasScripts, isLoggedIn: false });
    await owner.open('/mailbox/login');
    await owner.fill('Email address', address);
    await owner.fill('Password', OWNER_PASSWORD);
    await owner.submit('Log in');
    await owner.page.getByRole('link', { name: 'Automatic reply' }).first().click();
    await owner.fill(/^Subject/, 'I am away');
    await owner.fill('Text of the reply', 'Back on Monday.\nÖ');
    await owner.submit('Save');
    await owner.sees(/\bset\b/);
    const before = sink.messages.length;
    await deliver(address, 'Are you there?');
    const reply = await until('the automatic reply', async () =>
      sink.messages.slice(before).find(({ recipients }) => recipients.includes(`ann@${RECEIVER_DOMAIN}`)),
    );
    assert.match(String(reply.raw), /Subject: I am away/);
    await owner.open('/t/default/live');
    assert.match(owner.page.url(), /\/login\?to=/, 'the pages of the tenant stay closed');
    assert.deepEqual(owner.faults, []);
    await owner.takeScreenshot(`flow automatic reply ${hasScripts}`);
    await owner.close();
  });
}
