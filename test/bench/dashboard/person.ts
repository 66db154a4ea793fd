/** A person who is logged in to the dashboard of a daemon, with a browser that keeps its cookie and runs no scripts. */
import { Agent, request } from 'node:http';
import { type Browser, browserAt } from '../../support/browser.ts';
import type { DaemonProcess } from '../../support/daemon.ts';

export const OPERATOR = { email: 'olga@people.example', password: 'correct horse battery' };

export type Opened = { bytes: number; ms: number };
/** Opens a page, and returns its size in bytes and the milliseconds until its end. */
export type Open = (path: string) => Promise<Opened>;

export type Person = {
  open: Open;
  cookie: string;
  /** Path of the overview of its tenant, such as `/t/shop/live`. */
  path: string;
};

export function portOf({ address }: Pick<DaemonProcess, 'address'>): number {
  return Number(new URL(address).port);
}

/**
 * Logs in a person who owns the tenant and operates the installation: by a link the first time, and then with its password.
 * @throws Error with the answer that was not expected
 */
export async function logInPerson(daemon: DaemonProcess, tenantId: string): Promise<Person> {
  const operators = (await daemon.cli(['person', 'operators'])) as unknown[];
  const port = portOf(daemon);
  const browser = browserAt(port);
  if (operators.length === 0) await enterByLink(daemon, browser, tenantId);
  else await logIn(browser);
  const { status, url, html } = browser.page;
  if (status !== 200) throw new Error(`logging in was answered ${status} ${html}`);
  return { cookie: browser.cookie(), path: url, open: opener(port, browser.cookie()) };
}

/** Logs in the owner of a mailbox. */
export async function logInMailbox(
  daemon: DaemonProcess,
  login: { address: string; password: string },
): Promise<Open> {
  const port = portOf(daemon);
  const browser = browserAt(port);
  await browser.open('/mailbox/login');
  await browser.submit('login', login);
  const { status, url, html } = browser.page;
  if (url !== '/mailbox') throw new Error(`logging in to a mailbox was answered ${status} ${html}`);
  return opener(port, browser.cookie());
}

/** Returns what opens pages with these cookies, on a connection of its own. */
export function opener(port: number, cookie: string): Open {
  const agent = new Agent({ keepAlive: true });
  return (path) => open({ agent, port, cookie }, path);
}

async function enterByLink(daemon: DaemonProcess, browser: Browser, tenantId: string): Promise<void> {
  const rights = ['--tenant', tenantId, '--role', 'owner', '--operator'];
  const { url } = (await daemon.cli(['person', 'link', OPERATOR.email, ...rights])) as { url: string };
  await browser.open(new URL(url).pathname);
  await browser.submit('enter', { ...OPERATOR, name: 'Olga Operator' });
  await browser.submit('later');
}

/** Logs in with the password. */
export async function logIn(browser: Browser): Promise<void> {
  await browser.open('/login');
  await browser.submit('login', OPERATOR);
}

type Connection = { agent: Agent; port: number; cookie: string };

function open({ agent, port, cookie }: Connection, path: string): Promise<Opened> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { cookie, host: `localhost:${port}` };
    const asked = request({ agent, host: '127.0.0.1', port, path, headers }, (response) => {
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
      });
      response.on('end', () => {
        // A search for an id leads to its page.
        if (response.statusCode === 200 || response.statusCode === 303)
          resolve({ bytes, ms: performance.now() - startedAt });
        else reject(new Error(`${path} was answered ${response.statusCode}`));
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}
