/** Passkeys of a real daemon in Chromium, whose virtual authenticator stands for the device of a person. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { findViolations, startBrowser } from './browser.ts';

const PASSWORD = 'correct horse battery';

let daemon: DaemonProcess;
let browser: Browser;
let origin: string;

before(async () => {
  daemon = await startDaemonProcess();
  // Passkeys belong to names, not to addresses.
  origin = daemon.address.replace('127.0.0.1', 'localhost');
  browser = await startBrowser({});
});
after(async () => {
  await browser?.close();
  await daemon?.stop();
});

type Device = { page: Page; context: BrowserContext; setUserVerified(isVerified: boolean): Promise<void> };

/** Opens a browser on a device with an authenticator of its own. */
async function openDevice(): Promise<Device> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    page,
    context,
    async setUserVerified(isUserVerified) {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
}

async function makeLink(...args: string[]): Promise<string> {
  const { url } = (await daemon.cli(['person', 'link', ...args])) as { url: string };
  return origin + new URL(url).pathname;
}

async function logOut({ page }: Device): Promise<void> {
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(/\/login/);
}

let owner: Device;

test('a person adds a passkey, and logs in with it without a password', async () => {
  owner = await openDevice();
  const { page } = owner;
  await page.goto(await makeLink());
  await page.getByLabel('Your name').fill('Olga Operator');
  await page.getByLabel('Email address').fill('olga@people.example');
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(/\/t\/default\/live$/);
  await page.goto(`${origin}/account`);
  const form = page.locator('.passkey');
  await form.getByLabel('Name of the passkey').fill('laptop');
  await form.getByLabel('Current password').fill(PASSWORD);
  await form.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey is added.').waitFor();
  assert.deepEqual(await findViolations(page), []);
  await logOut(owner);
  assert.deepEqual(await findViolations(page), []);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(/\/t\/default\/live$/);
});

test('a device that does not recognise its user is not let in, and the page says so beside the button', async () => {
  const { page } = owner;
  await logOut(owner);
  await owner.setUserVerified(false);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  const failed = page.getByText('The browser has returned no passkey.');
  await failed.waitFor();
  assert.equal(await page.evaluate('document.activeElement.className'), 'passkey-failed');
  await owner.setUserVerified(true);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(/\/t\/default\/live$/);
});

test('an invitation ends in a passkey, by keyboard alone', async () => {
  const guest = await openDevice();
  const { page } = guest;
  await page.goto(await makeLink('gina@people.example', '--tenant', 'default', '--role', 'viewer'));
  const form = page.locator('.passkey');
  await form.getByLabel('Your name').focus();
  await page.keyboard.type('Gina Guest');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/t\/default\/live$/);
  await logOut(guest);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(/\/t\/default\/live$/);
  assert.equal(await page.getByRole('link', { name: 'Gina Guest' }).count(), 1);
  await guest.context.close();
});

test('a passkey takes the place of a code, and a device without one is told so', async () => {
  const { page } = owner;
  await page.goto(`${origin}/account`);
  const { Secret, TOTP } = await import('otpauth');
  const section = page.locator('section', { has: page.locator('#totp') });
  await section.locator('summary').first().click();
  const secret = await section.locator('input[name=totpSecret]').inputValue();
  await section
    .getByLabel('Code', { exact: true })
    .fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate());
  await section.getByLabel('Current password').fill(PASSWORD);
  await section.getByRole('button', { name: 'Switch on' }).click();
  await page.getByText('Recovery codes').first().waitFor();
  assert.deepEqual(await findViolations(page), []);
  const enterPassword = async (device: Device) => {
    await device.page.goto(`${origin}/login`);
    await device.page.getByLabel('Email address').fill('olga@people.example');
    await device.page.getByLabel('Password').fill(PASSWORD);
    await device.page.getByRole('button', { name: 'Log in' }).click();
    await device.page.waitForURL(/\/login\/code/);
  };
  await page.goto(`${origin}/account`);
  await logOut(owner);
  await enterPassword(owner);
  assert.deepEqual(await findViolations(page), []);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(/\/t\/default\/live$/);
  const stranger = await openDevice();
  await enterPassword(stranger);
  await stranger.page.getByRole('button', { name: 'Use a passkey' }).click();
  await stranger.page.getByText('The browser has returned no passkey.').waitFor();
  await stranger.context.close();
});
