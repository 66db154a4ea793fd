/** The connections by which the dashboard is opened: HTTPS here, HTTPS at a trusted proxy, and plain HTTP, which nobody logs in by. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createServer } from 'node:tls';
import { makeLoginLink } from '../../src/dashboard/people/invite.ts';
import { logIn, PASSWORD, type Shown } from '../support/browser.ts';
import { openTestApp } from '../support/test-app.ts';
import { EC_PAIR } from '../system/certificate-pairs.ts';

const HOST = 'mx.postrider.example';
const EMAIL = 'ann@people.example';
/** Address of the one proxy that is trusted, on the loopback network as all others. */
const PROXY = '127.0.0.2';
const testApp = await openTestApp({ env: { POSTRIDER_HTTP_TRUSTED_PROXIES: PROXY } });
after(() => testApp.close());

/** Ports of the server: without TLS, and with it. */
const ports = { plain: 0, tls: 0 };
before(async () => {
  await logIn(testApp, { email: EMAIL });
  const { server } = await testApp.openServer();
  const listener = createServer({ key: EC_PAIR.key, cert: EC_PAIR.chain }, (socket) =>
    server.emit('connection', socket),
  ).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  after(() => listener.close());
  ports.plain = (server.address() as AddressInfo).port;
  ports.tls = (listener.address() as AddressInfo).port;
});

/** How a request comes: with TLS or not, from which address, and with which headers of a proxy. */
type Way = { tls?: true; from?: string; headers?: Record<string, string> };
type Sent = { path: string; form?: Record<string, string>; cookie?: string };

async function ask(
  { tls, from = '127.0.0.1', headers = {} }: Way,
  { path, form, cookie }: Sent,
): Promise<Shown> {
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    host: '127.0.0.1',
    port: tls ? ports.tls : ports.plain,
    localAddress: from,
    path,
    method: form ? 'POST' : 'GET',
    agent: false,
    rejectUnauthorized: false,
    headers: {
      host: HOST,
      ...(cookie !== undefined && { cookie }),
      ...(form && {
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      }),
      ...headers,
    },
  };
  const asked = (tls ? requestTls : requestPlain)(options);
  asked.end(form && String(new URLSearchParams(form)));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const html = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode ?? 0, url: path, html, headers: response.headers };
}

const LOGIN = { path: '/login', form: { _action: 'login', email: EMAIL, password: PASSWORD } };
const HTTPS: Record<string, Way> = {
  'TLS here': { tls: true },
  'TLS at a trusted proxy': {
    from: PROXY,
    headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' },
  },
};
const PLAIN: Record<string, Way> = {
  'no proxy': {},
  'somebody who says to be a proxy': {
    headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' },
  },
  'a trusted proxy without TLS': {
    from: PROXY,
    headers: { 'x-forwarded-proto': 'http', 'x-forwarded-for': '203.0.113.7' },
  },
  'a trusted proxy that does not say': { from: PROXY, headers: { 'x-forwarded-for': '203.0.113.7' } },
  'a proxy on the same machine, by a name of this machine': {
    from: PROXY,
    headers: { host: 'localhost', 'x-forwarded-for': '203.0.113.7' },
  },
};

/** Logs in, and returns the cookie as a browser sends it. */
async function cookieBy(way: Way): Promise<string> {
  const { headers } = await ask(way, LOGIN);
  return String(headers['set-cookie']).split(';')[0] ?? '';
}

for (const [name, way] of Object.entries(HTTPS)) {
  test(`by ${name}, the cookie is bound to this host, browsers keep to HTTPS, and links begin with it`, async () => {
    const { status, headers } = await ask(way, LOGIN);
    assert.deepEqual([status, headers['location']], [303, '/t/default/live']);
    const [session, device] = headers['set-cookie'] ?? [];
    const bound = 'Path=/; HttpOnly; SameSite=';
    assert.match(session ?? '', new RegExp(`^__Host-session=[\\w-]{43}; ${bound}Lax; Max-Age=\\d+; Secure$`));
    assert.match(device ?? '', new RegExp(`^__Host-device=[\\w-]+; ${bound}Strict; Max-Age=\\d+; Secure$`));
    assert.equal(headers['strict-transport-security'], 'max-age=63072000');
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    assert.equal((await ask(way, { path: '/account', cookie })).status, 200);
    const unbound = cookie.replace('__Host-', '');
    assert.equal((await ask(way, { path: '/account', cookie: unbound })).status, 303);
    const form = { _action: 'invite', email: 'guest@people.example', role: 'viewer' };
    const invited = await ask(way, { path: '/t/default/live/team', cookie, form });
    assert.match(invited.html, /https:\/\/mx\.postrider\.example\/link\/[\w-]{43}/);
    const out = await ask(way, { path: '/logout', cookie, form: { _action: 'logout' } });
    assert.match(String(out.headers['set-cookie']), /^__Host-session=; .*Max-Age=0; Secure$/);
  });
}

/** Forms that begin a session, or ask for a link that does. */
async function enteringForms(): Promise<Sent[]> {
  const link = await makeLoginLink(testApp.app, {
    kind: 'invitation',
    email: 'late@people.example',
    tenantId: testApp.tenantId,
    role: 'owner',
    isOperator: 0,
    personId: null,
    madeBy: 'test',
    makerId: null,
  });
  const { email, ...login } = LOGIN.form;
  return [
    LOGIN,
    { path: '/login', form: { _action: 'passkey' } },
    { path: '/mailbox/login', form: { ...login, address: email } },
    { path: '/mailbox/forgotten', form: { _action: 'ask', address: EMAIL } },
    { path: link, form: { _action: 'enter', name: 'Late', password: PASSWORD } },
    { path: link, form: { _action: 'enterPasskey', name: 'Late' } },
  ];
}

for (const [name, way] of Object.entries(PLAIN)) {
  test(`over plain HTTP by ${name}, nobody logs in, and the page says why`, async () => {
    for (const sent of await enteringForms()) {
      const { status, html, headers } = await ask(way, sent);
      const what = `${sent.path} ${sent.form?.['_action']}`;
      assert.equal(status, 403, what);
      // The button of a passkey is not there over plain HTTP, and so neither is a place beside it.
      if (!/passkey/i.test(what)) assert.match(html, /over HTTPS only/, what);
      assert.equal(headers['set-cookie'], undefined, what);
      assert.equal(headers['strict-transport-security'], undefined, what);
    }
  });

  test(`over plain HTTP by ${name}, no cookie of a session opens or accepts anything`, async () => {
    const bound = await cookieBy(HTTPS['TLS here'] ?? {});
    const link = await makeLoginLink(testApp.app, {
      kind: 'invitation',
      email: EMAIL,
      tenantId: null,
      role: null,
      isOperator: 1,
      personId: null,
      madeBy: 'test',
      makerId: null,
    });
    for (const cookie of [bound, bound.replace('__Host-', '')]) {
      for (const path of ['/account', '/t/default/live'])
        assert.match(String((await ask(way, { path, cookie })).headers['location']), /^\/login\?/);
      assert.equal((await ask(way, { path: '/', cookie })).headers['location'], '/login');
      const accepted = await ask(way, { path: link, cookie, form: { _action: 'accept' } });
      assert.match(String(accepted.headers['location']), /^\/login\?to=/);
      assert.equal(accepted.headers['set-cookie'], undefined);
    }
  });
}

test('a request of this machine by its name has a cookie without the prefix', async () => {
  const headers = { host: `localhost:${ports.plain}` };
  const { status, headers: answered } = await ask({ headers }, LOGIN);
  assert.equal(status, 303);
  assert.match(String(answered['set-cookie']), /^session=[\w-]{43}; (?!.*Secure)/);
  assert.equal(answered['strict-transport-security'], undefined);
});
