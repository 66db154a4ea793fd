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
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { createLiveSender } from '../support/live-sender.ts';
import { freePort, listens } from '../support/loopback.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { writeCertificate } from './certificate.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const HOST = 'mx.example.com';
const PAGES = 'track.mx.example.com';
const DOMAIN = 'example.com';
const POLICY = `mta-sts.${DOMAIN}`;
const AUTOCONFIG = `autoconfig.${DOMAIN}`;
const READER = 'ann@receiver.example';
const RECEIVER_ZONE = 'receiver.example MX 10 mx.receiver.example\nmx.receiver.example A 127.0.0.1';
const ACCOUNT = { email: 'olga@people.example', password: 'correct horse battery' };
const PERSON = { name: 'Olga Operator', ...ACCOUNT };

type Ports = { http: number; https: number };
type Proxy = { name: string; start(folder: string, ports: Ports): Promise<readonly string[]> };

let daemon: DaemonProcess;
let files: { key: string; certificate: string };
let key: string;
/** Path of the page on which the reader of a mail unsubscribes. */
let unsubscribePath: string;
const closers: (() => Promise<void>)[] = [];
before(async () => {
  const dns = await startDnsServer(RECEIVER_ZONE);
  closers.unshift(() => dns.close());
  const sink = await startSmtpSink({ keepRaw: true });
  closers.unshift(() => sink.close());
  daemon = await startDaemonProcess({
    env: {
      POSTRIDER_HOSTNAME: HOST,
      POSTRIDER_HTTPS_ENABLED: 'false',
      POSTRIDER_HTTP_TRUSTED_PROXIES: '127.0.0.1',
      POSTRIDER_HTTP_PUBLIC_URL: `https://${HOST}`,
      POSTRIDER_DNS_SERVERS: dns.address,
      POSTRIDER_OUTBOUND_SMTP_PORT: String(sink.port),
      POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    },
  });
  closers.unshift(() => daemon.stop());
  unsubscribePath = await sendToReader(dns, sink);
  key = daemon.testKey ?? '';
  files = await writeCertificate(temporaryDirectory('proxies'), HOST, PAGES, POLICY, AUTOCONFIG);
  const { url } = (await daemon.cli(['person', 'link'])) as { url: string };
  assert.ok(url.startsWith(`https://${HOST}/link/`), url);
  const browser = browserAt(Number(new URL(daemon.address).port));
  await browser.open(new URL(url).pathname);
  await browser.submit('enter', PERSON);
  assert.equal(browser.page.url, '/operator', browser.page.html);
});
after(async () => {
  for (const close of closers) await close();
});

/** Verifies the domain, sends a mail about a topic from it, and returns the path of its link to unsubscribe. */
async function sendToReader(dns: DnsServer, sink: SmtpSink): Promise<string> {
  const sender = await createLiveSender(daemon, dns, { domain: DOMAIN, otherZone: RECEIVER_ZONE });
  const ask = async (method: 'POST' | 'PATCH', path: string, body: object) => {
    const { status, body: answer } = await daemon.request(method, `/v1${path}`, sender.key, body);
    assert.ok(status < 300, `${path}: ${JSON.stringify(answer)}`);
    return answer as { id: string };
  };
  // A domain that is for programs alone has no settings for mail programs.
  await ask('PATCH', `/domains/${sender.domainId}`, { productType: 'both' });
  const { id: topicId } = await ask('POST', '/topics', { name: 'News' });
  await ask('POST', '/emails', {
    ...{ from: `news@${DOMAIN}`, to: [READER], subject: 'News', html: '<p>News</p>' },
    ...{ type: 'broadcast', topicId },
  });
  await until('the mail has arrived', async () => sink.messages.length === 1);
  const raw = String(sink.messages[0]?.raw).replaceAll(/\r\n[ \t]/g, ' ');
  const link = /^List-Unsubscribe: .*?<(https:[^>]+)>/im.exec(raw)?.[1] ?? '';
  assert.ok(link.startsWith(`https://${PAGES}/u/`), raw);
  return new URL(link).pathname;
}

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
    const policy = await curl(POLICY, '/.well-known/mta-sts.txt');
    assert.equal(policy.answer, '200', policy.body);
    assert.match(policy.body, /^version: STSv1\r?\nmode: testing\r?\nmx: mx\.example\.com\r?$/m);
    const settings = await curl(AUTOCONFIG, `/mail/config-v1.1.xml?emailaddress=ann@${DOMAIN}`);
    assert.equal(settings.answer, '200', settings.body);
    assert.match(settings.body, /<domain>example\.com<\/domain>/);
    const page = await curl(PAGES, unsubscribePath);
    assert.equal(page.answer, '200', page.body);
    assert.match(page.body, /Do you want to stop receiving mail about “News”/);
    assert.equal((await curl(HOST, unsubscribePath)).answer, '404');
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
    assert.equal(login.answer, `303 https://${HOST}/operator`, login.body.slice(0, 2000));
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
