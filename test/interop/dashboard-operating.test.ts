/** Flows through the pages of the operator and of the team: mail is held, rerouted and released; somebody is invited. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { openWorld, PASSWORD } from './dashboard/world.ts';
import { until } from './until.ts';

const sink = await startSmtpSink();
after(() => sink.close());
const world = await openWorld({ smtpPort: sink.port });
await world.addDomain('shop.example');
// A second name of the mail server, to which mail is rerouted.
world.publish('mx.other.example A 127.0.0.1');

world.flow(
  'mail to a domain is held, rerouted to another host, and released',
  async ({ open, fill, submit, sees, waitFor, page, hasScripts }) => {
    const domain = `${hasScripts ? 'one' : 'two'}.example`;
    const choose = async (verb: string) => {
      await open('/operator/queue/change');
      await fill('What to do', verb);
      await fill('Domain of the recipients', domain);
      await submit('Count');
    };
    world.publish(`${domain} MX 10 mx.gone.example`);
    await choose('hold');
    await sees('A hold or a reroute also applies to mail that comes later.');
    await fill(/^Reason/, 'looked at by <b>Olga</b>');
    await submit('Hold: do it');
    await sees('looked at by <b>Olga</b>');
    const key = await world.newKey();
    const sent = await world.daemon.request('POST', '/v1/emails', key, {
      ...{
        from: 'Shop <news@shop.example>',
        to: [`ann@${domain}`],
        subject: 'A secret between two people',
        text: 'Hello',
        type: 'transactional',
      },
    });
    const { id } = sent.body as { id: string };
    await open(`/operator/queue/mail?state=held&domain=${domain}`);
    await waitFor(`ann@${domain}`);
    assert.ok(!(await page.content()).includes('A secret between two people'));
    await choose('reroute');
    await sees('This reaches 1 recipient.');
    await fill('Host or domain', 'mx.other.example');
    await submit('Reroute: do it');
    await choose('release');
    await submit('Release: do it');
    await until('the mail has arrived', async () =>
      sink.messages.some(({ recipients }) => recipients.includes(`ann@${domain}`)),
    );
    await open(`/operator/queue/emails/${id}`);
    await waitFor('delivered');
    assert.ok(!(await page.content()).includes('A secret between two people'));
    await open('/operator/audit');
    await sees(domain);
  },
);

world.flow(
  'somebody is invited by a link, chooses a password, sets one-time codes up, and may do what the role permits',
  async ({ open, fill, submit, sees, page, hasScripts }) => {
    const email = `guest${hasScripts}@people.example`;
    await open('/t/default/live/team');
    await fill('Email address', email);
    await fill('Role', 'viewer');
    await submit('Invite somebody');
    await sees('It works once');
    const [link = ''] = await page.locator('main .copyable code').allInnerTexts();
    const guest = await world.visit({ hasScripts, isLoggedIn: false });
    const { pathname } = new URL(link);
    await guest.open(pathname);
    await guest.fill('Your name', 'A <b>guest</b>');
    await guest.fill(/New password/, PASSWORD);
    await guest.submit('Continue');
    await guest.sees('Protect your account');
    assert.equal(
      await guest.page
        .locator('main img')
        .evaluate((image) => (image as { naturalWidth?: number }).naturalWidth !== 0),
      true,
    );
    const secret = await guest.page.locator('main form code').first().innerText();
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    await guest.fill(/^Code/, totp.generate());
    await guest.takeScreenshot(`invitation with one-time codes ${hasScripts}`);
    await guest.submit('Switch on and continue');
    await guest.sees(/([A-Z2-7]{4}-){3}[A-Z2-7]{4}/);
    await guest.open('/t/default/live/domains');
    await guest.sees('shop.example');
    assert.equal(await guest.page.getByRole('link', { name: 'Add a domain' }).count(), 0);
    await guest.open('/t/default/live/domains/new');
    await guest.sees('Not allowed');
    await guest.open(pathname);
    await guest.sees('The link does not work any more');
    assert.deepEqual(guest.faults, []);
    await guest.close();
    await open('/t/default/live/team');
    await sees('A <b>guest</b>');
  },
);
