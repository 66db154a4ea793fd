/** A real daemon with its dashboard, a mail server and a receiver of webhooks on this machine, and flows through the pages. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { type Published, zoneOf } from '../../domains/fixtures.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { freePort } from '../../support/loopback.ts';
import { startBrowser } from '../browser.ts';
import { type Visitor, visit } from './visitor.ts';

export const PASSWORD = 'correct horse battery';
/** The person of the flows: owner of the first tenant, and operator. */
export const PERSON = { name: 'Olga Operator', email: 'olga@people.example' } as const;
export const RECEIVER_DOMAIN = 'receiver.example';

export type World = {
  /** The daemon that runs now. */
  readonly daemon: DaemonProcess;
  origin: string;
  /** Publishes records beside those that are there. */
  publish(zone: string): void;
  /** Opens a window in which the person is logged in, or one of nobody. */
  visit(
    options: BrowserContextOptions & {
      hasScripts: boolean;
      isLoggedIn?: boolean;
      others?: readonly string[];
    },
  ): Promise<Visitor>;
  /** Makes a live key with full access. */
  newKey(mode?: 'live' | 'test'): Promise<string>;
  /** Adds a verified domain to the first tenant, at which mailboxes and API mail may be. */
  addDomain(name: string): Promise<void>;
  /** Ends the daemon, and starts one on another data directory, at the same address. The variables are added to those of the first one. */
  replaceDaemon(dataDir: string, env?: Record<string, string>): Promise<void>;
  flow(name: string, run: (visitor: Visitor) => Promise<void>): void;
};

/** Opens the world, which ends with the tests of the file. `smtpPort` is that of the mail server of `receiver.example`. */
export async function openWorld({
  smtpPort = 1,
  env = {},
}: {
  smtpPort?: number;
  env?: Record<string, string>;
} = {}): Promise<World> {
  const dns = await startDnsServer();
  let zone = `${RECEIVER_DOMAIN} MX 10 mx.${RECEIVER_DOMAIN}\nmx.${RECEIVER_DOMAIN} A 127.0.0.1`;
  dns.setZone(zone);
  const settings = {
    POSTRIDER_HTTP_PORT: String(await freePort()),
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_OUTBOUND_SMTP_PORT: String(smtpPort),
    POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true',
    ...env,
  };
  let daemon = await startDaemonProcess({ env: settings });
  const browser = await startBrowser({});
  after(async () => {
    await browser.close();
    await daemon.stop();
    await dns.close();
  });
  const origin = daemon.address;
  const cookies = await enterByLink(browser, { daemon, origin });
  const visitAs: World['visit'] = ({ isLoggedIn = true, ...options }) =>
    visit(browser, { origin, ...(isLoggedIn && { storageState: cookies }), ...options });
  const publish = (more: string) => {
    zone += `\n${more}`;
    dns.setZone(zone);
  };
  const newKey: World['newKey'] = async (mode = 'live') => {
    const scope = ['--tenant', 'default', '--mode', mode, '--permission', 'full_access'];
    const made = await daemon.cli(['key', 'create', ...scope, '--name', 'flows']);
    return (made as { token: string }).token;
  };
  return {
    get daemon() {
      return daemon;
    },
    origin,
    publish,
    visit: visitAs,
    newKey,
    async addDomain(name) {
      const key = await newKey();
      const created = await daemon.request('POST', '/v1/domains', key, { name, productType: 'both' });
      const { id, records } = created.body as { id: string; records: Published[] };
      publish(zoneOf(records));
      const verified = await daemon.request('POST', `/v1/domains/${id}/verify`, key);
      assert.equal((verified.body as { status: string }).status, 'verified', JSON.stringify(verified.body));
    },
    async replaceDaemon(dataDir, more = {}) {
      await daemon.stop();
      daemon = await startDaemonProcess({ dataDir, env: { ...settings, ...more } });
    },
    flow(name, run) {
      for (const hasScripts of [true, false]) {
        const how = hasScripts ? 'with JavaScript' : 'without JavaScript';
        test(`${name}, ${how}`, async () => {
          const visitor = await visitAs({ hasScripts });
          try {
            await run(visitor);
            assert.deepEqual(visitor.faults, []);
          } finally {
            await visitor.takeScreenshot(`flow ${name} ${how}`);
            await visitor.close();
          }
        });
      }
    },
  };
}

type Entering = { daemon: DaemonProcess; origin: string };

/** Makes the first person by the link that the command line prints, and returns the cookies of its window. */
async function enterByLink(browser: Browser, { daemon, origin }: Entering) {
  const { url } = (await daemon.cli(['person', 'link'])) as { url: string };
  const visitor = await visit(browser, { origin, hasScripts: true });
  await visitor.open(new URL(url).pathname);
  await visitor.fill('Your name', PERSON.name);
  await visitor.fill('Email address', PERSON.email);
  await visitor.fill(/New password/, PASSWORD);
  await visitor.page.getByRole('button', { name: 'Continue' }).click();
  await visitor.page.waitForURL(/\/t\/default\/live$/);
  const cookies = await visitor.page.context().storageState();
  await visitor.close();
  return cookies;
}
