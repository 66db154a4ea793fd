/** Flows through the pages that log people in at a provider of OpenID Connect, which is a small one on this machine. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { temporaryDirectory } from '../support/daemon.ts';
import { CLIENT_ID, CLIENT_SECRET, startIssuer } from '../support/openid-issuer.ts';
import { findViolations } from './browser.ts';
import type { Visitor } from './dashboard/visitor.ts';
import { openWorld, PASSWORD, PERSON } from './dashboard/world.ts';

const GUESTS = ['ida@people.example', 'jan@people.example'] as const;
const STRANGER = 'stranger@people.example';

const issuer = await startIssuer({}, [PERSON.email, ...GUESTS, STRANGER]);
after(() => issuer.close());
const clientSecretFile = join(temporaryDirectory('openid'), 'secret');
writeFileSync(clientSecretFile, CLIENT_SECRET);
const world = await openWorld({
  env: {
    POSTRIDER_OPENID_ISSUER: issuer.url,
    POSTRIDER_OPENID_CLIENT_ID: CLIENT_ID,
    POSTRIDER_OPENID_CLIENT_SECRET_FILE: clientSecretFile,
    POSTRIDER_OPENID_NAME: 'Example Accounts',
  },
});

/** Opens a window of nobody, runs what somebody does in it, and expects no faults. */
async function inWindow(hasScripts: boolean, run: (visitor: Visitor) => Promise<void>): Promise<void> {
  const visitor = await world.visit({ hasScripts, isLoggedIn: false, others: [issuer.url] });
  await run(visitor);
  assert.deepEqual(visitor.faults, []);
  await visitor.close();
}

/** Goes on at the provider, and chooses what its page offers. */
async function continueAt({ page }: Visitor, choice: string): Promise<void> {
  await page.getByRole('link', { name: 'Continue with Example Accounts' }).click();
  await page.getByRole('link', { name: choice }).click();
  await page.waitForURL(`${world.origin}/**`);
}

/** Keeps a picture of the page, and fails when axe finds something wrong with it. */
async function look({ page, hasScripts, takeScreenshot }: Visitor, name: string): Promise<void> {
  await takeScreenshot(`openid ${name} ${hasScripts ? 'with' : 'without'} JavaScript`);
  if (hasScripts) assert.deepEqual(await findViolations(page), []);
}

/** Logs in with the password, and goes to the provider from the page of the account, unless the person has been there. */
function useProvider(hasScripts: boolean): Promise<void> {
  return inWindow(hasScripts, async (visitor) => {
    await visitor.open('/login?to=/account');
    await visitor.fill('Email address', PERSON.email);
    await visitor.fill('Password', PASSWORD);
    await visitor.submit('Log in');
    const isUsed = await visitor.page.getByText('The provider lets you in').isVisible();
    if (!isUsed) await continueAt(visitor, PERSON.email);
    await visitor.sees('The provider lets you in');
    await look(visitor, 'account');
  });
}

world.flow('a person logs in at a provider, and lands where it wanted to go', async ({ hasScripts }) => {
  await useProvider(hasScripts);
  await inWindow(hasScripts, async (visitor) => {
    await visitor.open('/t/default/live/domains');
    await look(visitor, 'login');
    await continueAt(visitor, PERSON.email);
    assert.equal(visitor.page.url(), `${world.origin}/t/default/live/domains`);
    await visitor.sees('Domains');
  });
});

world.flow(
  'an invited person makes its account at the provider',
  async ({ open, fill, submit, page, hasScripts }) => {
    const email = GUESTS[hasScripts ? 0 : 1];
    await open('/t/default/live/team');
    await fill('Email address', email);
    await fill('Role', 'viewer');
    await submit('Invite somebody');
    const [link = ''] = await page.locator('main .copyable code').allInnerTexts();
    await inWindow(hasScripts, async (visitor) => {
      await visitor.open(new URL(link).pathname);
      await visitor.sees('Do you have an account here with this address?');
      await look(visitor, 'invitation');
      await continueAt(visitor, email);
      assert.equal(visitor.page.url(), `${world.origin}/t/default/live`);
    });
  },
);

world.flow(
  'who cancels, is unknown, or comes back twice is told so, and may log in again',
  ({ hasScripts }) =>
    inWindow(hasScripts, async (visitor) => {
      const { open, sees, page } = visitor;
      await open('/login');
      await continueAt(visitor, 'Cancel');
      await sees('The login at the provider was canceled');
      await look(visitor, 'canceled');
      await page.getByRole('link', { name: 'To the start' }).click();
      await page.waitForURL(/\/login/);
      await continueAt(visitor, STRANGER);
      await sees(`Nobody here has the address ${STRANGER}`);
      await look(visitor, 'unknown');
      await page.reload();
      await sees('The login at the provider was not accepted');
      await look(visitor, 'refused');
    }),
);
