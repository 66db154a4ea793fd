/** The API and the dashboard behind nginx and behind Caddy, each with its example from config/ in which only addresses, ports and files are replaced. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { browserAt } from '../support/browser.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { freePort, listens } from '../support/loopback.ts';
import { writeCertificate } from './certificate.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const HOST = 'mx.example.com';
const PAGES = 'track.mx.example.com';
const POLICY = 'mta-sts.example.com';
const ACCOUNT = { email: 'olga@people.example', password: 'correct horse battery' };
const PERSON = { name: 'Olga Operator', ...ACCOUNT };

type Ports = { http: number; https: number };
type Proxy = { name: string; start(folder: string, ports: Ports): Promise<readonly string[]> };

let daemon: DaemonProcess;
let files: { key: string; certificate: string };
let key: string;
before(async () => {
  daemon = await startDaemonProcess({
    env: {
      POSTRIDER_HOSTNAME: HOST,
      POSTRIDER_HTTPS_ENABLED: 'false',
      POSTRIDER_HTTP_TRUSTED_PROXIES: '127.0.0.1',
      POSTRIDER_HTTP_PUBLIC_URL: `https://${HOST}`,
    },
  });
  key = daemon.testKey ?? '';
  files = await writeCertificate(temporaryDirectory('proxies'), HOST, PAGES, POLICY);
  const { url } = (await daemon.cli(['person', 'link'])) as { url: string };
  assert.ok(url.startsWith(`https://${HOST}/link/`), url);
  const browser = browserAt(Number(new URL(daemon.address).port));
  await browser.open(new URL(url).pathname);
  await browser.submit('enter', PERSON);
  assert.equal(browser.page.url, '/t/default/live', browser.page.html);
});
after(() => daemon?.stop());

async function example(name: string, replacements: readonly (readonly [string, string])[]): Promise<string> {
  let text = await readFile(new URL(`../../config/${name}`, import.meta.url), 'utf8');
  for (const [from, to] of [...replacements, ['127.0.0.1:8025', new URL(daemon.address).host] as const]) {
    assert.ok(text.includes(from), `${name} has ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

const NGINX: Proxy = {
  name: 'nginx',
  async start(folder, { http, https }) {
    const server = await example('nginx.conf', [
      ['listen 443 ssl', `listen 127.0.0.1:${https} ssl`],
      ['listen [::]:443 ssl', `listen [::1]:${https} ssl`],
      ['listen 80;', `listen 127.0.0.1:${http};`],
      ['listen [::]:80;', ''],
      ['/etc/letsencrypt/live/mx.example.com/fullchain.pem', files.certificate],
      ['/etc/letsencrypt/live/mx.example.com/privkey.pem', files.key],
    ]);
    const main = join(folder, 'main.conf');
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    );
    await writeFile(
      main,
      `daemon off; user root; pid ${join(folder, 'pid')}; error_log stderr; events {}\nhttp { access_log off; ${paths.join(' ')}\n${server}\n}\n`,
    );
    return ['/usr/sbin/nginx', '-c', main, '-p', folder];
  },
};

const CADDY: Proxy = {
  name: 'Caddy',
  async start(folder, { http, https }) {
    const sites = await example('Caddyfile', [
      ['\trequest_body {', `\tbind 127.0.0.1\n\ttls ${files.certificate} ${files.key}\n\trequest_body {`],
      ['\troute {', `\tbind 127.0.0.1\n\troute {`],
    ]);
    const file = join(folder, 'Caddyfile');
    const global = `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n\tstorage file_system ${folder}\n}\n`;
    await writeFile(file, global + sites);
    return ['/usr/bin/caddy', 'run', '--config', file, '--adapter', 'caddyfile'];
  },
};

for (const proxy of [NGINX, CADDY]) {
  test(`${proxy.name}: the example serves the API, the pages and the policies, names the client, takes no key without TLS, and lets a person log in`, async (t) => {
    const folder = join(temporaryDirectory('proxies'), proxy.name);
    await mkdir(folder);
    const ports = { http: await freePort(), https: await freePort() };
    const [program = '', ...args] = await proxy.start(folder, ports);
    const child = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HOME: folder },
    });
    let output = '';
    child.stderr.on('data', (part: Buffer) => {
      output += part;
    });
    t.after(async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    });
    await until(proxy.name, async () => (await listens(ports.https)) && (await listens(ports.http))).catch(
      (error) => assert.fail(`${error}\n${output}`),
    );
    const curl = async (host: string, path: string, ...more: string[]) => {
      const port = host.startsWith('http://') ? ports.http : ports.https;
      const name = host.replace('http://', '');
      const scheme = host.startsWith('http://') ? 'http' : 'https';
      const { stdout } = await run('curl', [
        ...['--silent', '--show-error', '--cacert', files.certificate, '--max-time', '30'],
        ...['--connect-to', `::127.0.0.1:${port}`, '--write-out', '\n%{http_code} %{redirect_url}'],
        ...[...more, `${scheme}://${name}${path}`],
      ]);
      const [last = ''] = stdout.split('\n').slice(-1);
      return { answer: last.trim(), body: stdout.slice(0, -last.length) };
    };
    assert.equal((await curl(HOST, '/healthz')).answer, '200');
    assert.equal((await curl(PAGES, '/healthz')).answer, '404');
    assert.equal((await curl(POLICY, '/healthz')).answer, '404');
    const bearer = ['--header', `Authorization: Bearer ${key}`];
    assert.equal((await curl(HOST, '/v1/emails', ...bearer)).answer, '200');

    // A key for one address: the client names itself in vain, because the proxy says who it is.
    const { body } = await daemon.request('POST', '/v1/api-keys', key, {
      ...{ name: `of ${proxy.name}`, permission: 'full_access', allowedIps: ['203.0.113.9'] },
    });
    const bound = ['--header', `Authorization: Bearer ${(body as { token: string }).token}`];
    const forged = ['--header', 'X-Forwarded-For: 203.0.113.9'];
    assert.equal((await curl(HOST, '/v1/emails', ...bound, ...forged)).answer, '403');

    const html = 'x'.repeat(1_900_000);
    const file = join(folder, 'email.json');
    const email = {
      from: `a@sandbox.${HOST}`,
      to: [`delivered@simulator.${HOST}`],
      type: 'transactional',
      subject: 'Large',
      html,
    };
    await writeFile(file, JSON.stringify(email));
    const sent = await curl(
      HOST,
      '/v1/emails',
      ...bearer,
      ...['--header', 'Content-Type: application/json', '--data-binary', `@${file}`],
    );
    assert.equal(sent.answer, '200', sent.body.slice(0, 300));

    assert.equal((await curl(`http://${HOST}`, '/v1/emails', ...bearer)).answer, '403');
    assert.equal((await curl(`http://${HOST}`, '/docs?a=b')).answer, `308 https://${HOST}/docs?a=b`);

    const jar = join(folder, 'cookies');
    const login = await curl(
      HOST,
      '/login',
      ...['--include', '--cookie-jar', jar, '--header', 'Sec-Fetch-Site: same-origin'],
      ...['--data', String(new URLSearchParams({ _action: 'login', ...ACCOUNT }))],
    );
    assert.equal(login.answer, `303 https://${HOST}/t/default/live`, login.body.slice(0, 2000));
    assert.match(
      login.body,
      /^set-cookie: __Host-session=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure/im,
    );
    assert.match(login.body, /^strict-transport-security: max-age=63072000/im);
    const account = await curl(HOST, '/account', '--cookie', jar);
    assert.equal(account.answer, '200');
    assert.match(account.body, new RegExp(PERSON.name));
    assert.equal((await curl(PAGES, '/login')).answer, '404');
    assert.equal((await curl(`http://${HOST}`, '/login')).answer, `308 https://${HOST}/login`);

    // Postrider answers the challenges of its own orders.
    const challenge = '/.well-known/acme-challenge/unknown';
    const unanswered = await curl(`http://${HOST}`, challenge);
    assert.deepEqual([unanswered.answer, /Challenge not found/.test(unanswered.body)], ['404', true]);
    assert.equal((await curl(`http://${HOST}`, challenge, ...bearer)).answer, '403');
  });
}
