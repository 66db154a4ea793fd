/**
 * A primary under load is killed again and again. It is first started again, and goes on with the same base, also when it is killed in each step of
 * shipping. Then another host takes its place from what the store has: everything that was acknowledged before the newest cut is there, in the main database and
 * in the mailbox, also when the promotion itself is killed in each of its steps. The primary that was replaced refuses to run.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { createTransport } from 'nodemailer';
import { CRASH_POINTS, type CrashPointName } from '../../src/crash-points.ts';
import type { ShownStandby } from '../../src/standby/admin-api.ts';
import { isGeneration } from '../../src/standby/names.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import type { Place, Result } from './part.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));
/** Steps of a promotion. The first one is reached in an empty folder alone. */
const FIRST_POINT = 'standby-generation-ready';
const POINTS = [
  FIRST_POINT,
  ...CRASH_POINTS.filter((name) => name.startsWith('standby-') && name !== FIRST_POINT),
];
/** Steps of shipping. */
const SHIPPING_POINTS = CRASH_POINTS.filter((name) => name.startsWith('shipping-'));
const MAILBOX = 'ann@sandbox.localhost';
/** Time for which a primary is under load before it is killed, in milliseconds. */
const LIFE_MS = { low: 1_500, high: 5_000 };
/** Time in which the store has to get the first cut of a primary, and in which mail has to reach the mailbox, in milliseconds. */
const LIMIT_MS = 60_000;
const POLL_MS = 100;
/** Size of an attachment, which is kept in a file. */
const ATTACHMENT_BYTES = 200_000;

type Site = { root: string; env: Record<string, string>; identity: string; key: string; smtpPort: number };

/** Times at which something was acknowledged: emails by their ids, and messages for the mailbox by their Message-IDs. */
type Ledger = { emails: Map<string, number>; messages: Map<string, number> };

export async function killPrimary({ seed, standby: { kills } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const site = await createSite();
  const ledger: Ledger = { emails: new Map(), messages: new Map() };
  let dataDir = join(site.root, 'primary-0');
  let daemon = await startDaemonProcess({ dataDir, env: site.env });
  site.key = daemon.testKey ?? '';
  await daemon.cli(['mailbox', 'create', MAILBOX]);
  let lost = 0;
  for (let round = 1; round <= kills; round++) {
    for (const point of round === 1 ? [undefined, ...SHIPPING_POINTS] : [undefined])
      daemon = await killAndStart(daemon, { site, dataDir, ledger, random, point });
    const storedCutAt = await killUnderLoad(daemon, site, { ledger, random });
    const next = join(site.root, `primary-${round}`);
    const takenAt = promote(site, next, round === 1);
    assert.ok(takenAt >= storedCutAt, 'the copy is older than the cut that the store had');
    await requireRefusal(dataDir, site);
    rmSync(dataDir, { recursive: true });
    dataDir = next;
    daemon = await startDaemonProcess({ dataDir, env: site.env });
    lost += forgetLost(ledger.emails, await listEmails(daemon, site.key), takenAt);
    await daemon.cli(['restore', 'release', '--yes']);
    const before = [...ledger.messages.values()].filter((at) => at < takenAt).length;
    const filed = await untilFiled(daemon, join(site.root, `exported-${round}`), before);
    lost += forgetLost(ledger.messages, filed, takenAt);
    const { findings } = (await daemon.cli(['mailbox', 'check', MAILBOX])) as { findings: unknown[] };
    assert.deepEqual(findings, []);
  }
  await daemon.stop();
  const { emails, messages } = ledger;
  return {
    lines: [
      `${kills} primaries killed and replaced, ${kills + SHIPPING_POINTS.length} killed and started again, ${POINTS.length} kills of a promotion; ${emails.size} emails and ${messages.size} messages kept`,
      `acknowledged after the newest cut, and lost: ${lost}`,
    ],
    faults: [],
  };
}

type Life = {
  site: Site;
  dataDir: string;
  ledger: Ledger;
  random: SeededRandom;
  point: CrashPointName | undefined;
};

/** Kills a primary under load and starts it again, which goes on with the same generation. With a point it is killed once more, when it reaches that. */
async function killAndStart(daemon: DaemonProcess, life: Life): Promise<DaemonProcess> {
  const { site, dataDir, point } = life;
  const { env } = site;
  await killUnderLoad(daemon, site, life);
  const before = generationsOf(site);
  if (point !== undefined) {
    const dying = await startDaemonProcess({ dataDir, env: { ...env, POSTRIDER_CRASH_AT: point } });
    assert.equal((await dying.exited).signal, 'SIGKILL', point);
  }
  const next = await startDaemonProcess({ dataDir, env });
  await untilStored(next);
  const { progress } = (await next.cli(['standby', 'status'])) as ShownStandby;
  assert.deepEqual([progress?.generation, progress?.resyncs, progress?.gaps], [before.at(-1), 1, 0]);
  assert.deepEqual(generationsOf(site), before);
  return next;
}

function generationsOf({ root }: Site): string[] {
  const names = readdirSync(join(root, 'store'), { recursive: true, encoding: 'utf8' });
  return [...new Set(names.flatMap((name) => name.split('/').filter(isGeneration)))].sort();
}

/** Forgets what is not there, which must have been acknowledged after the cut. Returns its number. */
function forgetLost(ledger: Map<string, number>, there: ReadonlySet<string>, takenAt: number): number {
  let lost = 0;
  for (const [id, at] of ledger) {
    if (there.has(id)) continue;
    assert.ok(
      at >= takenAt,
      `${id} was acknowledged at ${at}, before the cut of ${takenAt}, and is not there`,
    );
    ledger.delete(id);
    lost++;
  }
  return lost;
}

async function createSite(): Promise<Site> {
  const root = temporaryDirectory('standby');
  const store = join(root, 'store');
  mkdirSync(store);
  const secret = await generateIdentity();
  const identity = join(root, 'identity.txt');
  writeFileSync(identity, `${secret}\n`);
  const smtpPort = await freePort();
  const env = {
    POSTRIDER_SMTP_ADDRESS: '127.0.0.1',
    POSTRIDER_SMTP_PORT: String(smtpPort),
    POSTRIDER_STANDBY_STORE: pathToFileURL(store).href,
    POSTRIDER_BACKUP_RECIPIENTS: await identityToRecipient(secret),
    POSTRIDER_LOG_LEVEL: 'warn',
  };
  return { root, env, identity, smtpPort, key: '' };
}

/** Sends emails and messages for the mailbox until a random time after the first cut, and kills the daemon. Returns the time of its newest cut. */
async function killUnderLoad(
  daemon: DaemonProcess,
  { key, smtpPort }: Site,
  { ledger, random }: { ledger: Ledger; random: SeededRandom },
): Promise<number> {
  const over = new AbortController();
  const { signal } = over;
  const sending = [
    sendAgain(signal, ledger.emails, async (number) => {
      const { status, body } = await daemon.request('POST', '/v1/emails', key, emailOf(number));
      return status === 200 ? (body as { id: string }).id : undefined;
    }),
    sendMessages(signal, ledger.messages, smtpPort),
  ];
  await untilStored(daemon);
  await sleep(random.between(LIFE_MS.low, LIFE_MS.high));
  const storedCutAt = await untilStored(daemon);
  await daemon.kill('SIGKILL');
  over.abort();
  await Promise.all(sending);
  return storedCutAt;
}

/** Sends one after the other, and notes what was acknowledged. An error is that of a daemon that was killed. */
async function sendAgain(
  signal: AbortSignal,
  ledger: Map<string, number>,
  send: (number: number) => Promise<string | undefined>,
): Promise<void> {
  for (let number = 0; !signal.aborted; number++) {
    const id = await send(number).catch(() => undefined);
    if (id !== undefined) ledger.set(id, Date.now());
    else await sleep(POLL_MS);
  }
}

async function sendMessages(signal: AbortSignal, ledger: Map<string, number>, port: number): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    pool: true,
    maxConnections: 1,
    ignoreTLS: true,
  });
  await sendAgain(signal, ledger, async (number) => {
    const { messageId } = await transport.sendMail({
      ...{ from: 'bob@example.org', to: MAILBOX, subject: `Number ${number}`, text: 'Hi' },
      ...(number % 5 === 0 && { attachments: [{ filename: 'a.bin', content: attachmentOf(number) }] }),
    });
    return messageId;
  });
  transport.close();
}

function attachmentOf(number: number): Buffer {
  return Buffer.alloc(ATTACHMENT_BYTES, `attachment ${number} `);
}

function emailOf(number: number): Record<string, unknown> {
  const content = attachmentOf(number).toString('base64');
  return {
    ...{ from: 'hello@sandbox.localhost', to: 'delivered@simulator.localhost', subject: 'Hi', text: 'Hi' },
    type: 'transactional',
    ...(number % 5 === 0 && { attachments: [{ filename: 'a.bin', content }] }),
  };
}

async function untilStored(daemon: DaemonProcess): Promise<number> {
  const endsAt = Date.now() + LIMIT_MS;
  for (;;) {
    const { progress } = (await daemon.cli(['standby', 'status'])) as ShownStandby;
    if (progress?.storedCutAt != null) return progress.storedCutAt;
    if (Date.now() > endsAt) throw new Error(`the store got no cut: ${JSON.stringify(progress)}`);
    await sleep(POLL_MS);
  }
}

/** Promotes what the store has into a data directory, and returns the time of its cut. It is killed in each of its steps when that is wanted. */
function promote({ root, env, identity }: Site, to: string, isKilled: boolean): number {
  const folder = join(root, 'copy');
  const args = ['standby', 'promote', '--identity', identity, '--folder', folder, '--to', to, '--json'];
  const run = (more: Record<string, string>) =>
    spawnSync(PROGRAM, args, { env: { PATH: process.env['PATH'], ...env, ...more }, encoding: 'utf8' });
  if (isKilled)
    for (const point of POINTS) assert.equal(run({ POSTRIDER_CRASH_AT: point }).signal, 'SIGKILL', point);
  const { status, stdout, stderr } = run({});
  assert.equal(status, 0, stderr);
  return (JSON.parse(stdout) as { position: { takenAt: number } }).position.takenAt;
}

async function requireRefusal(dataDir: string, { env }: Site): Promise<void> {
  await assert.rejects(startDaemonProcess({ dataDir, env }), /has taken the place of this host/);
}

async function listEmails(daemon: DaemonProcess, key: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after = ''; ; ) {
    const { body } = await daemon.request('GET', `/v1/emails?limit=100${after}`, key);
    const { data, nextCursor } = body as { data: { id: string }[]; nextCursor: string | null };
    for (const { id } of data) ids.add(id);
    if (nextCursor === null) return ids;
    after = `&startingAfter=${encodeURIComponent(nextCursor)}`;
  }
}

/** Waits until so many messages are in the mailbox, and returns their Message-IDs, each of which is there once. */
async function untilFiled(daemon: DaemonProcess, folder: string, messages: number): Promise<Set<string>> {
  const endsAt = Date.now() + LIMIT_MS;
  const ids = new Set<string>();
  do {
    ids.clear();
    rmSync(folder, { recursive: true, force: true });
    await daemon.cli(['mailbox', 'export', MAILBOX, folder]);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    for (const file of files) {
      const text = readFileSync(join(file.parentPath, file.name), 'latin1');
      const [, id] = /^Message-ID: *(<[^>]+>)/im.exec(text) ?? [];
      if (id === undefined) continue;
      assert.ok(!ids.has(id), `${id} is in the mailbox twice`);
      ids.add(id);
    }
    if (ids.size >= messages) return ids;
    await sleep(POLL_MS);
  } while (Date.now() < endsAt);
  throw new Error(`${ids.size} of ${messages} messages have reached the mailbox`);
}
