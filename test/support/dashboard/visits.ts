/** Everybody who looks at pages of the dashboard, with the paths of all pages that they can open: where everything is empty, and where it is not. */
import assert from 'node:assert/strict';
import { AUTHENTICATOR } from '../../../src/dashboard/entry/start.ts';
import type { Area, PageDefinition } from '../../../src/dashboard/page.ts';
import { PAGES } from '../../../src/dashboard/pages.ts';
import { makeLoginLink } from '../../../src/dashboard/people/invite.ts';
import { hashToken, newToken } from '../../../src/dashboard/people/tokens.ts';
import { routeOf } from '../../../src/dashboard/routes.ts';
import type { Mode } from '../../../src/db/tables.ts';
import { hashPassword } from '../../../src/mailboxes/passwords/hash.ts';
import { insertRow } from '../../broadcasts/fixtures.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { type Browser, logIn, openBrowser, PASSWORD } from '../browser.ts';
import type { Party, Populated } from '../resources/populated.ts';
import type { TestApp } from '../test-app.ts';
import { fillMode, hasParameters, pathOf, type Shown } from './paths.ts';

export type Visit = { browser: Browser; paths: readonly string[] };

/**
 * Logs in a person that owns the first tenant and operates the installation, the owner of a mailbox with a rule, nobody, who sees the pages
 * before logging in, and an invited person who is asked for one-time codes.
 */
export async function visitFull(
  world: Populated,
  { party = world.owner, modes = ['test', 'live'] }: { party?: Party; modes?: readonly Mode[] } = {},
): Promise<Visit[]> {
  const shown: Shown[] = [];
  for (const mode of modes) shown.push(await fillMode(world, party, { tenantName: 'default', mode }));
  const [first] = shown;
  assert.ok(first);
  const paths = [
    ...pagesOf('account', 'operator').map((page) => pathOf(page, first)),
    ...shown.flatMap((one) => pagesOf('tenant').map((page) => pathOf(page, one))),
  ];
  const mailbox = await ownerOfMailbox(world, 'full');
  await mailbox.open('/mailbox/rules/new');
  await mailbox.submit('save', { value1: 'Invoice', fileInto: 'Invoices' });
  const person = await logIn(world.testApp, { isOperator: true });
  return [
    { browser: person, paths },
    { browser: mailbox, paths: pagesOf('mailbox').map((page) => pathOf(page, first)) },
    { browser: await openBrowser(world.testApp), paths: await publicPaths(world) },
    { browser: await acceptInvitation(world), paths: [AUTHENTICATOR] },
  ];
}

/** Logs in the owner of a tenant without anything, and the owner of a new mailbox. */
export async function visitEmpty(world: Populated): Promise<Visit[]> {
  const { tenantId } = await world.addParty('empty', []);
  const prefix = '/t/empty/live';
  const paths = pagesOf('tenant')
    .filter((page) => !hasParameters(page))
    .map(({ path }) => prefix + path);
  const mailbox = await ownerOfMailbox(world, 'empty');
  return [
    { browser: await logIn(world.testApp, { tenantId }), paths },
    {
      browser: mailbox,
      paths: pagesOf('mailbox').map((page) => routeOf(page).replace(':number', 'new')),
    },
  ];
}

/** Logs in the first operator of an installation in which nothing has happened yet. */
export async function visitNew(testApp: TestApp): Promise<Visit[]> {
  const pages = pagesOf('account', 'operator').filter((page) => !hasParameters(page));
  const browser = await logIn(testApp, { tenantId: null, isOperator: true });
  return [{ browser, paths: pages.map(routeOf) }];
}

function pagesOf(...areas: readonly Area[]): readonly PageDefinition[] {
  return PAGES.filter(({ area }) => areas.includes(area));
}

async function ownerOfMailbox({ testApp }: Populated, name: string): Promise<Browser> {
  const address = `${name}@people.example`;
  await addMailbox(testApp, { address, passwordHash: await hashPassword(PASSWORD, '') });
  const browser = await openBrowser(testApp);
  await browser.open('/mailbox/login');
  await browser.submit('login', { address, password: PASSWORD });
  assert.equal(browser.page.url, '/mailbox', browser.page.html);
  return browser;
}

/** Pages that show nothing and lead to others. */
const LEADING_ON = ['/', '/logout', '/login/openid', '/login/openid/return', AUTHENTICATOR];

/** Returns the paths of the pages that somebody without a session sees, among them links that work and some that do not. */
async function publicPaths(world: Populated): Promise<string[]> {
  const others = pagesOf('public').filter((page) => !hasParameters(page) && !LEADING_ON.includes(page.path));
  const links = [
    await invite(world, 'invited@people.example'),
    await mailboxLink(world, { name: 'confirming', confirmedAt: null }),
    await mailboxLink(world, { name: 'forgetful', confirmedAt: 1 }),
  ];
  return [...others.map(({ path }) => path), ...links, '/link/nothing', '/mailbox/link/nothing'];
}

/** Returns the link that was mailed to the recovery address of a new mailbox: one that confirms the address, or one that sets a new password. */
async function mailboxLink(
  { testApp }: Populated,
  { name, confirmedAt }: { name: string; confirmedAt: number | null },
): Promise<string> {
  const { id: mailboxId } = await addMailbox(testApp, { address: `${name}@people.example` });
  const createdAt = testApp.app.clock.now();
  const token = newToken();
  insertRow(testApp, 'mailboxRecoveries', {
    ...{ mailboxId, address: `${name}@elsewhere.example`, createdAt, confirmedAt },
    ...{ linkHash: hashToken(token) ?? null, linkExpiresAt: createdAt + 24 * 3_600_000 },
  });
  return `/mailbox/link/${token}`;
}

function invite({ testApp: { app, tenantId } }: Populated, email: string): Promise<string> {
  return makeLoginLink(app, {
    ...{ kind: 'invitation', email, tenantId, role: 'viewer', isOperator: 0 },
    ...{ personId: null, madeBy: 'test', makerId: null },
  });
}

async function acceptInvitation(world: Populated): Promise<Browser> {
  const browser = await openBrowser(world.testApp);
  await browser.open(await invite(world, 'entering@people.example'));
  await browser.submit('enter', { name: 'Guest', password: PASSWORD });
  assert.equal(browser.page.url, AUTHENTICATOR, browser.page.html);
  return browser;
}
