/**
 * Programs that send by SMTP: swaks, msmtp, curl, mutt, nodemailer and Python's smtplib, on both ports, with a mailbox and with an API key. Mail
 * of the mailbox arrives in it, and mail of the key is an email of the API.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { HOST, type MailboxServer, startMailboxServer } from './mailbox-server.ts';
import { until } from './until.ts';

type Mail = {
  user: string;
  password: string;
  port: number;
  /** True for the port with TLS from the first byte. */
  isImplicit: boolean;
  to: string;
  subject: string;
};

let server: MailboxServer;
let key: string;
/** File with all certificates of the daemon, for a program that may be shown either of them. */
let certificates: string;

before(async () => {
  server = await startMailboxServer();
  const [tenant] = (await server.daemon.cli(['tenant', 'list'])) as { id: string }[];
  const created = await server.daemon.cli([
    ...['key', 'create', '--tenant', tenant?.id ?? '', '--mode', 'live'],
    ...['--permission', 'full_access', '--name', 'smtp'],
  ]);
  key = (created as { token: string }).token;
  await mkdir(join(server.home, 'mutt'));
  certificates = join(server.home, 'certificates.pem');
  const folder = join(server.daemon.dataDir, 'tls', 'self-signed');
  const files = ['ec.pem', 'rsa.pem'].map((name) => readFile(join(folder, name), 'utf8'));
  await writeFile(certificates, (await Promise.all(files)).join(''));
});
after(() => server?.stop());

/** Runs a program with this input. Rejects with what it wrote when it fails. */
function run(
  program: string,
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<void> {
  const child = spawn(program, args, { env: { ...process.env, HOME: server.home, ...env }, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program}: ${code}\n${output}`)),
    );
  });
}

function messageOf({ to, subject }: Mail): string {
  return `From: Writer <${server.address}>\r\nTo: ${to}\r\nSubject: ${subject}\r\n\r\nHello from a program.\r\n`;
}

const SMTPLIB = `
import smtplib, ssl, sys
host, port, implicit, user, password, sender, to, subject = sys.argv[1:]
context = ssl._create_unverified_context()
client = smtplib.SMTP_SSL(host, int(port), context=context) if implicit == '1' else smtplib.SMTP(host, int(port))
if implicit != '1':
    client.starttls(context=context)
client.login(user, password)
client.sendmail(sender, [to], ('From: %s\\r\\nTo: %s\\r\\nSubject: %s\\r\\n\\r\\nHello from a program.\\r\\n' % (sender, to, subject)).encode())
client.quit()
`;

const PROGRAMS: Readonly<Record<string, (mail: Mail) => Promise<void>>> = {
  swaks: ({ user, password, port, isImplicit, to, subject }) =>
    run('swaks', [
      ...['--server', HOST, '--port', String(port), isImplicit ? '--tls-on-connect' : '--tls'],
      ...['--auth', 'LOGIN', '--auth-user', user, '--auth-password', password],
      ...[
        '--from',
        server.address,
        '--to',
        to,
        '--header',
        `Subject: ${subject}`,
        '--body',
        'Hello from a program.',
      ],
    ]),
  msmtp: (mail) =>
    run(
      'msmtp',
      [
        ...[
          `--host=${HOST}`,
          `--port=${mail.port}`,
          '--tls=on',
          `--tls-starttls=${mail.isImplicit ? 'off' : 'on'}`,
        ],
        // Like a browser, GnuTLS believes no certificate that has signed itself.
        ...['--tls-certcheck=off', '--auth=plain', `--user=${mail.user}`],
        ...[`--passwordeval=printf %s '${mail.password}'`, `--from=${server.address}`, mail.to],
      ],
      { input: messageOf(mail).replaceAll('\r\n', '\n') },
    ),
  curl: (mail) =>
    run(
      'curl',
      [
        ...['--silent', '--show-error', '--ssl-reqd', '--cacert', server.certificate],
        ...['--user', `${mail.user}:${mail.password}`, '--mail-from', server.address, '--mail-rcpt', mail.to],
        ...['--upload-file', '-', `${mail.isImplicit ? 'smtps' : 'smtp'}://${HOST}:${mail.port}`],
      ],
      { input: messageOf(mail) },
    ),
  async mutt({ user, password, port, isImplicit, to, subject }) {
    const settings = join(server.home, 'mutt', 'settings');
    const url = `${isImplicit ? 'smtps' : 'smtp'}://${encodeURIComponent(user)}@${HOST}:${port}/`;
    await writeFile(
      settings,
      [
        `set smtp_url="${url}" smtp_pass="${password}" from="${server.address}" realname="Writer"`,
        `set ssl_starttls=yes ssl_force_tls=yes certificate_file="${certificates}" copy=no use_envelope_from=yes`,
        // By itself mutt tries SCRAM-SHA-256-PLUS alone, for which it has no channel binding. API keys log in by PLAIN or LOGIN.
        `set smtp_authenticators="${password === key ? 'plain' : 'scram-sha-256'}"`,
      ].join('\n'),
    );
    await run('mutt', ['-F', settings, '-s', subject, to], { input: 'Hello from a program.\n' });
  },
  async nodemailer({ user, password, port, isImplicit, to, subject }) {
    const transport = createTransport({
      ...{ host: HOST, port, secure: isImplicit, requireTLS: true, tls: { rejectUnauthorized: false } },
      auth: { user, pass: password },
    });
    await transport.sendMail({ from: server.address, to, subject, text: 'Hello from a program.' });
    transport.close();
  },
  'Python smtplib': ({ user, password, port, isImplicit, to, subject }) =>
    run('python3', [
      ...[
        '-c',
        SMTPLIB,
        HOST,
        String(port),
        isImplicit ? '1' : '0',
        user,
        password,
        server.address,
        to,
        subject,
      ],
    ]),
};

for (const [program, send] of Object.entries(PROGRAMS))
  for (const isImplicit of [true, false])
    test(`${program} sends on the port with ${isImplicit ? 'TLS' : 'STARTTLS'}, with a mailbox and with a key`, async () => {
      const { tlsPort, starttlsPort } = server.submission;
      const port = isImplicit ? tlsPort : starttlsPort;
      const subject = `${program} ${port}`;
      const { address, password } = server;
      await send({ user: address, password, port, isImplicit, to: address, subject });
      await until(`${subject} has arrived`, async () => subject in (await server.flagsIn('INBOX')));
      await send({
        ...{ user: 'anything', password: key, port, isImplicit, subject },
        to: 'delivered@simulator.localhost',
      });
      const isListed = async () => {
        const { body } = await server.daemon.request('GET', '/v1/emails?limit=100', key);
        return (body as { data: { subject: string; status: string }[] }).data.some(
          (email) => email.subject === subject && email.status === 'delivered',
        );
      };
      assert.ok(await until(`${subject} is an email`, isListed));
    });

test('a wrong address comes back to the mailbox as a message', async () => {
  const { address, password } = server;
  const transport = createTransport({
    ...{ host: HOST, port: server.submission.tlsPort, secure: true, tls: { rejectUnauthorized: false } },
    auth: { user: address, pass: password },
  });
  await transport.sendMail({
    from: address,
    to: 'nobody@sandbox.localhost',
    subject: 'Wrong',
    text: 'Hello',
  });
  transport.close();
  const hasArrived = async () => 'Your message could not be delivered' in (await server.flagsIn('INBOX'));
  assert.ok(await until('the report has arrived', hasArrived));
});
