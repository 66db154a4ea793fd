/** Flows through the pages about sending: a key and curl, a domain, an email that bounces, a webhook, and the inbox of test mail. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { after } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { startCommandServer } from '../support/command-server.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { openWorld, RECEIVER_DOMAIN } from './dashboard/world.ts';

const run = promisify(execFile);

let refuse: (() => void) | undefined;
const server = await startCommandServer((line, socket) => {
  if (line.startsWith('RCPT TO:<gone')) {
    // The refusal waits until the test has seen that the email is on its way.
    refuse = () => socket.write('550 5.1.1 <b>No such user</b> here\r\n');
    return '';
  }
  return line.startsWith('DATA') ? '354 go on' : '250 ok';
});
/** Posts of webhooks that arrived, and the status with which they are answered. */
const posts: string[] = [];
let answer = 200;
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    posts.push(Buffer.concat(parts).toString());
    response.writeHead(answer).end('the receiver says <b>this</b>');
  });
});
const receiverUrl = `http://127.0.0.1:${await listenOnLoopback(receiver)}/hook`;
after(() => {
  server.close();
  receiver.close();
});
const world = await openWorld({ smtpPort: server.port });
const { flow, daemon } = world;
const LIVE = '/t/default/live';
const TEST = '/t/default/test';

flow(
  'a key is made, shown once, and curl sends with the line that the page shows',
  async ({ open, fill, submit, sees, page, waitFor }) => {
    await open(`${TEST}/keys/new`);
    await fill('Name', 'the shop');
    await submit('Create an API key');
    await sees('it is not shown again');
    const codes = await page.locator('main code').allInnerTexts();
    const [key = '', line = ''] = [
      codes.find((code) => /^svc_dev_\w{40}$/.test(code)),
      codes.find((code) => code.startsWith('curl')),
    ];
    const { stdout } = await run('sh', ['-c', line]);
    const { id } = JSON.parse(stdout) as { id: string };
    await open(`${TEST}/emails/${id}`);
    await waitFor('delivered');
    await open(`${TEST}/keys`);
    await sees('the shop');
    assert.ok(!(await page.content()).includes(key));
  },
);

flow(
  'a domain is added, its records are copied into DNS, and it is verified',
  async ({ open, fill, submit, sees, page, hasScripts }) => {
    const name = `shop${hasScripts ? 1 : 2}.example`;
    await open(`${LIVE}/domains/new`);
    await fill('Name', name);
    await submit('Add a domain');
    await sees('not looked up yet');
    world.publish(await recordsOn(page));
    await submit('Check now');
    await sees(/Status\s+verified/);
  },
);

/** Reads the records of a domain from its page, as somebody does who copies them, and takes the TXT record in the place of a CNAME. */
async function recordsOn(page: Page): Promise<string> {
  const lines: string[] = [];
  for (const record of await page.locator('article.record:not(details article)').all()) {
    const [name, value] = await record.locator('dd .copyable code').allTextContents();
    const type = await record.locator('dd').first().textContent();
    const other = await record.locator('details code').allTextContents();
    lines.push(other.length > 0 ? `${name} TXT "${other[0]}"` : `${name} ${type} "${value}"`);
  }
  return lines.join('\n');
}

flow(
  'an email is followed from queued to bounced, and its reply is explained',
  async ({ open, sees, waitFor, page, hasScripts }) => {
    const key = await world.newKey();
    const to = `gone${hasScripts ? 1 : 2}@${RECEIVER_DOMAIN}`;
    const sent = await daemon.request('POST', '/v1/emails', key, {
      ...{
        from: `Shop <news@shop1.example>`,
        to: [to],
        subject: 'An order',
        text: 'Hello',
        type: 'transactional',
      },
    });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    const { id } = sent.body as { id: string };
    await open(`${LIVE}/emails?to=${to}`);
    await page.getByRole('link', { name: 'An order' }).click();
    await waitFor('Being sent at this moment.');
    refuse?.();
    await waitFor('The mailbox does not exist');
    await sees('550 5.1.1 <b>No such user</b> here');
    await sees('Remove the address from your lists');
    await open(`${LIVE}/emails/${id}/attempts`);
    await sees('RCPT TO:<gone');
  },
);

flow(
  'a webhook that failed is read in the log, and replayed',
  async ({ open, fill, submit, sees, waitFor, page }) => {
    answer = 500;
    await open(`${TEST}/webhooks/new`);
    await fill('URL', receiverUrl);
    await page.getByLabel('email.delivered', { exact: true }).check();
    await submit('Add an endpoint');
    await sees(/whsec_/);
    await page.getByRole('link', { name: 'To the endpoint' }).click();
    const { pathname } = new URL(page.url());
    await open(`${TEST}/send-test`);
    await submit('Send');
    await open(`${pathname}/deliveries`);
    await waitFor(/email\.delivered[\s\S]*500/);
    await page.getByRole('link', { name: 'email.delivered' }).first().click();
    await sees('the receiver says <b>this</b>');
    await sees('"type":"email.delivered"');
    answer = 200;
    const before = posts.length;
    await submit('Post again');
    await waitFor(/Status\s+delivered/);
    assert.ok(posts.length > before);
    await open(pathname);
    // Another run of this flow has an endpoint of its own.
    await page.locator('summary').filter({ hasText: 'Delete the endpoint' }).click();
    await submit('Delete this endpoint');
  },
);

flow(
  'mail of a test key is read in the inbox of the sandbox, and the simulator answers as it is told',
  async ({ open, fill, submit, sees, waitFor, page, disclose }) => {
    await open(`${TEST}/simulator`);
    await fill('Code', '452');
    await fill(/Enhanced code/, '4.2.2');
    await fill('Text', 'Mailbox full <b>for now</b>');
    await submit('Use this reply');
    await sees('452 4.2.2 Mailbox full <b>for now</b>');
    await open(`${TEST}/send-test`);
    await fill('To', 'custom@simulator.localhost');
    await fill('Subject', 'Seen in the sandbox');
    await fill(
      'HTML',
      '<p>Hello <b>there</b></p><a href="http://example.com/">a link</a><img src="https://elsewhere.example/x.png">',
    );
    await submit('Send');
    await waitFor('Mailbox full <b>for now</b>');
    await sees('Waits. Next attempt:');
    const { pathname: email } = new URL(page.url());
    const frame = page.frameLocator('iframe.preview');
    assert.equal(await frame.locator('b').innerText(), 'there');
    for (const [part, text] of [
      ['Text', 'This email was sent from the dashboard.'],
      ['HTML', '<p>Hello <b>there</b></p>'],
    ] as const) {
      await page
        .getByRole('navigation', { name: 'Parts of the content' })
        .getByRole('link', { name: part, exact: true })
        .click();
      await sees(text);
    }
    await page.getByRole('link', { name: 'Check', exact: true }).click();
    await sees('http://example.com/');
    await sees(/Headers as they are sent[\s\S]*Subject: Seen in the sandbox/);
    await open(email);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the message' }).click(),
    ]);
    assert.match(download.suggestedFilename(), /\.eml$/);
    await disclose('Cancel the email');
    await submit('Cancel the email');
    await open(`${TEST}/simulator`);
    await submit('Remove the reply');
  },
);
