/** A real Postfix with Cyrus SASL as the relay of all mail: by STARTTLS, by implicit TLS, and when it stops keeping its side. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startDnsServer } from '../support/dns-server.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import { RECEIVER_DOMAIN, type Sender, startSender } from './sender.ts';
import { until } from './until.ts';

const LOGIN = { user: 'postrider@relay.example', password: 'a pass=word, of 25 letters' };
const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));

let postfix: Postfix;
let sender: Sender;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  postfix = await startPostfix({ domain: RECEIVER_DOMAIN, mailboxes: ['inbox'], login: LOGIN });
  closers.unshift(() => postfix.stop());
  // No MX host can be reached, as where a provider blocks port 25.
  const receiver = { hostname: postfix.hostname, port: 1 };
  sender = await startSender({ dns, receiver, env: { POSTRIDER_OUTBOUND_ALLOW_TARGETS: '' } });
  closers.unshift(() => sender.daemon.stop());
});

after(async () => {
  for (const close of closers) await close();
});

/** Runs `postrider route …` with the password on standard input. Returns its output and exit code. */
async function route(args: readonly string[], password = ''): Promise<{ code: unknown; output: string }> {
  const env = { ...process.env, POSTRIDER_DATA_DIR: sender.daemon.dataDir };
  const child = spawn(PROGRAM, ['route', ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(`${password}\n`);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, output };
}

/** Sets the route of all mail. */
async function setRoute(args: readonly string[], password = LOGIN.password): Promise<void> {
  const common = [
    '--relay',
    postfix.hostname,
    '--user',
    LOGIN.user,
    '--ca-file',
    postfix.certificate,
    '--private',
  ];
  const { code, output } = await route(['set', 'relay', ...common, ...args], password);
  assert.equal(code, 0, output);
  assert.ok(!output.includes(password));
}

for (const [tls, port] of [
  ['starttls', () => postfix.submissionPort],
  ['implicit', () => postfix.submissionsPort],
] as const) {
  test(`mail goes through Postfix by ${tls}, logged in, with a verified certificate`, async () => {
    const before = (await postfix.messages('inbox')).length;
    await setRoute(['--tls', tls, '--port', String(port())]);
    const checked = await route(['check', 'relay']);
    assert.equal(checked.code, 0, checked.output);
    assert.match(checked.output, /^OK +mx\.receiver\.example +127\.0\.0\.1 +TLSv1\.3$/m);
    const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`);
    const email = await sender.emailWithStatus(id, 'delivered');
    assert.match(email.recipients[0]?.tls ?? '', /TLSv1\.3/);
    const message = await until('the message', async () => (await postfix.messages('inbox'))[before]);
    assert.match(message, /by mx\.receiver\.example \(Postfix\) with ESMTPSA id/);
    assert.match(await postfix.log(), /sasl_method=PLAIN, sasl_username=postrider@relay\.example/);
  });
}

test('a wrong password defers the mail with what Postfix says', async () => {
  await setRoute(['--port', String(postfix.submissionPort)], 'wrong');
  const checked = await route(['check', 'relay']);
  assert.equal(checked.code, 1);
  assert.match(checked.output, /auth: 535 5\.7\.8 Error: authentication failed/);
  const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`);
  const recipient = await until('the mail is deferred', async () => {
    const [first] = (await sender.email(id)).recipients;
    return first?.status === 'deferred' && first;
  });
  assert.match(recipient.diagnostic ?? '', /^The relay mx\.receiver\.example refuses our mail: 535 5\.7\.8/);
});

test('a certificate that is not trusted, and a private address without permission, send nothing', async () => {
  const common = [
    '--relay',
    postfix.hostname,
    '--user',
    LOGIN.user,
    '--port',
    String(postfix.submissionPort),
  ];
  const logins = async () => (await postfix.log()).match(/SASL|sasl_/g)?.length ?? 0;
  const before = await logins();
  await route(['set', 'relay', ...common, '--private'], LOGIN.password);
  assert.match((await route(['check', 'relay'])).output, /the certificate is not valid: /);
  await route(['set', 'relay', ...common, '--ca-file', postfix.certificate], LOGIN.password);
  assert.match((await route(['check', 'relay'])).output, /has no public address; a relay with a private/);
  assert.equal(await logins(), before);
});
