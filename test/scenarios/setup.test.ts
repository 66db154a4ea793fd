/** A set-up that is killed, completed and repeated, with a DNS, a receiver and an authority on loopback. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { startSetupWorld } from '../support/setup-world.ts';
import { waitUntil } from '../support/wait-until.ts';

const world = await startSetupWorld();
after(() => world[Symbol.asyncDispose]());

const folder = temporaryDirectory('setup');
const file = join(folder, 'postrider.yaml');
const config = ['--config', file];
const dataDir = join(folder, 'postrider-data');

type Summary = {
  domain: { status: string };
  mailbox: { address: string; password: string | null };
  keys: Record<string, string>;
  curl: string;
  dashboard: string | null;
  findings: { check: string; level: string }[];
};

/** Sends the request of the line for curl. */
async function follow(line: string): Promise<{ status: number; body: { id: string } }> {
  const [, url = '', key = '', body = ''] = /^curl (\S+).*Bearer (\S+)".*-d '(.+)'$/s.exec(line) ?? [];
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as { id: string } };
}

/** The live key, which the run shows that is then killed. */
let liveKey = '';

test('a set-up is killed while it waits for DNS', async () => {
  const { signal, output, errors } = await world.run(config, 'needed records are published');
  assert.equal(signal, 'SIGKILL', `${output}${errors}`);
  liveKey = /^ +its token, shown only once: (svc_prd_\w{40})$/m.exec(output)?.[1] ?? '';
  assert.notEqual(liveKey, '');
});

test('a set-up that does not wait says what its next run makes', async () => {
  const { code, output, errors } = await world.run([...config, '--no-wait']);
  assert.equal(code, 0, `${output}${errors}`);
  assert.match(
    output,
    /^WARN {2}accounts +mailbox you@setup\.example: it is not made, and no message is sent, before setup\.example is verified$/m,
  );
  assert.match(
    output,
    /-> once the records are published, run this again, .*: postrider setup you@setup\.example$/m,
  );
  assert.equal(world.sink.messages.length, 0);
});

/** The password and the line for curl that the completing run shows. */
let password = '';
let curl = '';

test('the next set-up goes on, and ends with a mail that a receiver has taken', async () => {
  const done = await world.run(config);
  assert.equal(done.code, 0, `${done.output}${done.errors}`);
  assert.match(done.output, /^OK {4}certificate +mail\.setup\.example: its certificate is valid until /m);
  assert.match(
    done.output,
    /^OK {4}message +me@receiver\.example: a message was accepted by mx\.receiver\.example \(/m,
  );
  password = /its password, shown only once: (\S+)/.exec(done.output)?.[1] ?? '';
  assert.notEqual(password, '');
  assert.match(done.output, /^Set up the dashboard .*:\nhttps:\/\/mail\.setup\.example\/link\/[\w-]{43}$/m);
  curl = done.output.slice(done.output.indexOf('curl ')).split('\nKEY is')[0] ?? '';
  assert.equal(world.sink.messages.length, 1);
});

test('a set-up of a complete installation only checks and reports, and its log has no secret', async () => {
  const again = await world.run([...config, '--json']);
  assert.equal(again.code, 0, again.errors);
  const summary = JSON.parse(again.output) as Summary;
  assert.equal(summary.domain.status, 'verified');
  assert.deepEqual(summary.mailbox, { address: 'you@setup.example', password: null });
  assert.deepEqual(summary.keys, {});
  assert.match(summary.dashboard ?? '', /^https:\/\/mail\.setup\.example\/link\//);
  assert.ok(summary.findings.every(({ level }) => level !== 'fail'));
  assert.equal(world.sink.messages.length, 1);

  const log = readFileSync(join(dataDir, 'setup.log'), 'utf8');
  assert.match(log, /OK {4}message/);
  assert.ok(!log.includes('/link/'));
  assert.ok(!log.includes(password) && !/svc_(?:prd|dev)_[A-Za-z0-9]{8}/.test(log));
  assert.equal(statSync(join(dataDir, 'setup.log')).mode & 0o777, 0o600);
});

test('one installation was made, and the line for curl works with it', async (t) => {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  // Mail of the installation itself has a tenant of its own.
  const tables = ["tenants WHERE name != 'installation'", 'domains', 'mailboxes', 'apiKeys'];
  const counts = tables.map((table) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  database.close();
  assert.deepEqual(counts, [1, 1, 1, 2]);

  const daemon = await startDaemonProcess({ dataDir, env: { ...world.env, POSTRIDER_CONFIG: file } });
  t.after(() => daemon.kill('SIGKILL'));
  const { status, body } = await follow(curl.replace('$KEY', liveKey));
  assert.equal(status, 200);
  await waitUntil(async () => {
    const shown = await daemon.request('GET', `/v1/emails/${body.id}`, liveKey);
    return (shown.body as { status: string }).status === 'delivered';
  }, 'the mailbox has the mail');
  await daemon.stop();
});
