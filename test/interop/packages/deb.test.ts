/** The Debian package in a fresh Debian: installed, used, upgraded, removed and purged. The tests follow each other. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { createLiveSender } from '../../support/live-sender.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { until } from '../until.ts';
import { buildPackage } from './build.ts';
import { freshDebian, programIn, runIn } from './debian-root.ts';

const CONFIG = 'etc/postrider/config.yaml';
const DATABASE = 'var/lib/postrider/postrider.db';
const RECEIVER_ZONE = 'receiver.example MX 10 mx.receiver.example\nmx.receiver.example A 127.0.0.1';

let root: string;
let dns: DnsServer;
let sink: SmtpSink;
/** A live key, and an email that was delivered. */
let sent: { key: string; id: string };

before(async () => {
  [dns, sink] = await Promise.all([startDnsServer(), startSmtpSink()]);
  root = freshDebian();
});

after(async () => {
  await Promise.all([dns.close(), sink.close()]);
});

async function install(file: string): Promise<string> {
  copyFileSync(file, join(root, 'tmp/postrider.deb'));
  return runIn(root, 'apt-get', '-qq', '-y', 'install', '--no-install-recommends', '/tmp/postrider.deb');
}

/** Runs the daemon as the unit does, by the command of the operator. */
async function whileServing(use: (daemon: DaemonProcess) => Promise<void>): Promise<void> {
  const daemon = await startDaemonProcess({
    program: programIn(root, '/usr/bin/postrider'),
    dataDir: '/var/lib/postrider',
  });
  try {
    await use(daemon);
    await daemon.stop();
  } finally {
    await daemon.kill('SIGKILL');
  }
}

test('the package is installed, enables its service, and asks for a configuration', async () => {
  const printed = await install(buildPackage({ arch: 'x64', kind: 'deb' }));
  assert.match(printed, /set it up with: postrider setup you@example\.com/);
  assert.match(await runIn(root, 'postrider', 'version'), /^postrider \d+\.\d+\.\d+ /);
  assert.equal(await runIn(root, 'dpkg', '--verify', 'postrider'), '');
  assert.equal(statSync(join(root, 'var/lib/postrider')).mode & 0o777, 0o700);
  const enabled = join(root, 'etc/systemd/system/multi-user.target.wants');
  assert.deepEqual(
    readdirSync(enabled).filter((unit) => unit.startsWith('postrider')),
    ['postrider.service'],
  );
  for (const name of ['serve', 'follow']) {
    const unit = readFileSync(join(root, `usr/lib/systemd/system/postrider-standby-${name}.service`), 'utf8');
    assert.match(unit, /^ExecStart=\/usr\/lib\/postrider\/bin\/postrider standby /m);
  }
});

test('an email that the API accepts is delivered, and the data belong to the account of the service', async () => {
  writeFileSync(
    join(root, CONFIG),
    [
      'hostname: post.sender.example',
      `dns: { servers: ["${dns.address}"] }`,
      `outbound: { smtpPort: ${sink.port}, allowTargets: ["127.0.0.0/8"] }`,
    ].join('\n'),
  );
  await runIn(root, 'chgrp', 'postrider', `/${CONFIG}`);
  await runIn(root, 'chmod', '0640', `/${CONFIG}`);
  await whileServing(async (daemon) => {
    const { key } = await createLiveSender(daemon, dns, {
      domain: 'shop.example',
      otherZone: RECEIVER_ZONE,
    });
    const email = { from: 'a@shop.example', to: ['b@receiver.example'], subject: 'Hello', text: 'Hello\n' };
    const { status, body } = await daemon.request('POST', '/v1/emails', key, {
      ...email,
      type: 'transactional',
    });
    assert.equal(status, 200, JSON.stringify(body));
    sent = { key, id: (body as { id: string }).id };
    await until('the email arrives', async () => sink.messages.length === 1);
    await until('the email is delivered', async () => {
      const shown = await daemon.request('GET', `/v1/emails/${sent.id}`, key);
      return (shown.body as { status: string }).status === 'delivered';
    });
  });
  const owner = await runIn(root, 'stat', '--format=%U:%G', `/${DATABASE}`);
  assert.equal(owner.trim(), 'postrider:postrider');
});

test('an upgrade keeps configuration and data', async () => {
  await install(buildPackage({ arch: 'x64', kind: 'deb', revision: '2' }));
  assert.match(await runIn(root, 'dpkg-query', '--show', 'postrider'), /-2\n$/);
  await whileServing(async (daemon) => {
    const { status, body } = await daemon.request('GET', `/v1/emails/${sent.id}`, sent.key);
    assert.equal(status, 200);
    assert.equal((body as { status: string }).status, 'delivered');
  });
});

test('a removed package leaves configuration and data, and a purged one nothing but the account', async () => {
  await runIn(root, 'apt-get', '-qq', '-y', 'remove', 'postrider');
  assert.ok(!existsSync(join(root, 'usr/lib/postrider')) && !existsSync(join(root, 'usr/bin/postrider')));
  assert.ok(existsSync(join(root, CONFIG)) && existsSync(join(root, DATABASE)));

  await runIn(root, 'apt-get', '-qq', '-y', 'purge', 'postrider');
  const found = await runIn(root, 'find', '/', '-xdev', '-name', '*postrider*', '-not', '-path', '/proc/*');
  assert.deepEqual(
    found.split('\n').filter((path) => !/^(?:\/tmp\/.*|\/var\/log\/.*|)$/.test(path)),
    [],
  );
  assert.match(readFileSync(join(root, 'etc/passwd'), 'utf8'), /^postrider:.*:\/usr\/sbin\/nologin$/m);
});
