/**
 * A browser without JavaScript, for tests of the dashboard: it keeps cookies, follows redirects, and sends the forms that a page has with the
 * values that stand in them.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formsIn } from '../../src/dashboard/audit/forms-in.ts';
import { makeLoginLink } from '../../src/dashboard/people/invite.ts';
import type { Role } from '../../src/db/people-tables.ts';
import type { Id } from '../../src/system/ids.ts';
import type { TestApp } from './test-app.ts';

export type Shown = {
  status: number;
  /** Path with its query, after all redirects. */
  url: string;
  html: string;
  headers: Record<string, string | string[] | undefined>;
};

type Sent = { method: 'GET' | 'POST'; body?: string | Buffer; headers?: Record<string, string> };

type UploadedFile = { field: string; name: string; content: string | Buffer<ArrayBuffer> };

export type Browser = {
  /** The page that is shown. */
  readonly page: Shown;
  open(path: string): Promise<Shown>;
  /** Sends the form with this action, with other values for some of its fields. */
  submit(action: string, fields?: Record<string, string | readonly string[]>): Promise<Shown>;
  /** Sends the form with this action as one with files, with other values for some of its fields. */
  upload(action: string, file: UploadedFile, fields?: Record<string, string>): Promise<Shown>;
  /** Sends a request as it is, and follows no redirect. */
  send(path: string, sent: Sent): Promise<Shown>;
  cookie(): string;
  /** Sends everything from another address of this machine from now on. */
  moveTo(address: string): void;
  /** Origin of the pages that it opens. */
  origin(): string;
};

const HOST = 'localhost';
const MAX_REDIRECTS = 5;

/** Opens a browser at the server of a test application, which listens on loopback. */
export async function openBrowser(testApp: Pick<TestApp, 'openServer'>): Promise<Browser> {
  const server = await testApp.openServer();
  if (!server.server.listening) await server.listen({ host: '127.0.0.1', port: 0 });
  return browserAt((server.server.address() as AddressInfo).port);
}

/** Opens a browser at a port of this machine. */
export function browserAt(port: number): Browser {
  const cookies = new Map<string, string>();
  let localAddress: string | undefined;
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  let page: Shown = { status: 0, url: '/', html: '', headers: {} };

  async function send(path: string, { method, body, headers = {} }: Sent): Promise<Shown> {
    const sent = {
      host: `${HOST}:${port}`,
      ...(cookies.size > 0 && { cookie: cookie() }),
      ...(method === 'POST' && { 'sec-fetch-site': 'same-origin' }),
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    };
    const shown = await new Promise<Shown>((resolve, reject) => {
      const at = { host: '127.0.0.1', port, ...(localAddress !== undefined && { localAddress }) };
      const asked = request({ ...at, path, method, headers: sent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            url: path,
            html: Buffer.concat(chunks).toString(),
            headers: response.headers,
          }),
        );
      });
      asked.on('error', reject);
      asked.end(body);
    });
    for (const set of [shown.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return shown;
  }

  async function follow(path: string, sent: Sent): Promise<Shown> {
    let shown = await send(path, sent);
    for (let count = 0; shown.status === 303 && count < MAX_REDIRECTS; count++)
      shown = await send(String(shown.headers['location']), { method: 'GET' });
    page = shown;
    return shown;
  }

  return {
    get page() {
      return page;
    },
    open: (path) => follow(path, { method: 'GET' }),
    submit(action, fields = {}) {
      const form = formsOf(page.html).find(({ values }) => values.get('_action') === action);
      assert.ok(form, `no form for ${action} at ${page.url}: ${page.html.slice(0, 2000)}`);
      const values = new URLSearchParams(form.values);
      for (const [name, value] of Object.entries(fields)) {
        values.delete(name);
        for (const one of [value].flat()) values.append(name, one);
      }
      return follow(form.target === '' ? page.url : form.target, { method: 'POST', body: String(values) });
    },
    async upload(action, { field, name, content }, fields = {}) {
      const form = formsOf(page.html).find(({ values }) => values.get('_action') === action);
      assert.ok(form, `no form for ${action} at ${page.url}`);
      const data = new FormData();
      for (const [key, value] of form.values) if (key !== field) data.append(key, fields[key] ?? value);
      data.append(field, new File([content], name, { type: 'text/csv' }));
      const encoded = new Response(data);
      const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
      const body = Buffer.from(await encoded.arrayBuffer());
      return follow(form.target === '' ? page.url : form.target, { method: 'POST', body, headers });
    },
    send,
    cookie,
    moveTo(address) {
      localAddress = address;
    },
    origin: () => `http://${HOST}:${port}`,
  };
}

/** Returns the forms of a page with the values that a browser would send. */
export const formsOf = formsIn;

export const PASSWORD = 'correct horse battery';

type NewPerson = { email?: string; tenantId?: Id<'ten'> | null; role?: Role; isOperator?: boolean };

/** Makes a person by a link, and returns a browser in which it is logged in. */
export async function logIn(
  testApp: TestApp,
  {
    email = `ann${++people}@people.example`,
    tenantId = testApp.tenantId,
    role = 'owner',
    isOperator = false,
  }: NewPerson = {},
): Promise<Browser> {
  const path = await makeLoginLink(testApp.app, {
    kind: 'invitation',
    email,
    tenantId,
    role: tenantId === null ? null : role,
    isOperator: isOperator ? 1 : 0,
    personId: null,
    madeBy: 'test',
    makerId: null,
  });
  const browser = await openBrowser(testApp);
  await browser.open(path);
  await browser.submit('enter', { name: `Ann of ${email}`, password: PASSWORD });
  await browser.submit('later');
  assert.equal(browser.page.status, 200, browser.page.html);
  return browser;
}

let people = 0;
