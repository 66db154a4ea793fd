/**
 * A primary under load is killed again and again, and each time another host takes its place from what the store has: everything that was
 * acknowledged before the newest cut is there, in the main database and in the mailbox, also when the promotion itself is killed in each of its
 * steps. The primary that was replaced refuses to run.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { CRASH_POINTS } from '../../src/crash-points.ts';
import type { ShownStandby } from '../../src/standby/admin-api.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import type { Place, Result } from './part.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));
const POINTS = CRASH_POINTS.filter((name) => name.startsWith('standby-'));
const MAILBOX = 'ann@sandbox.localhost';
/** Time for which a primary is under load before it is killed, in milliseconds. */
const LIFE_MS = { low: 1_500, high: 5_000 };
/** Time in which the store has to get the first cut of a primary, and in which mail has to reach the mailbox, in milliseconds. */
const LIMIT_MS = 60_000;
const POLL_MS = 100;
/** Size of an attachment, which is kept in a file. */
const ATTACHMENT_BYTES = 200_000;

type Site = { root: string; env: Record<string, string>; identity: string; key: string };
type Accepted = { id: string; at: number };

export async function killPrimary({ seed, standby: { kills } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const site = await createSite();
  let dataDir = join(site.root, 'primary-0');
  let daemon = await startDaemonProcess({ dataDir, env: site.env });
  site.key = daemon.testKey ?? '';
  await daemon.cli(['mailbox', 'create', MAILBOX]);
  const accepted = new Map<string, number>();
  let kept = 0;
  let lost = 0;
  for (let round = 1; round <= kills; round++) {
    const sent = await killUnderLoad(daemon, site, random);
    const next = join(site.root, `primary-${round}`);
    const takenAt = promote(site, next, round === 1);
    await requireRefusal(dataDir, site);
    rmSync(dataDir, { recursive: true });
    dataDir = next;
    daemon = await startDaemonProcess({ dataDir, env: site.env });
    for (const { id, at } of sent.accepted) accepted.set(id, at);
    const there = await listEmails(daemon, site.key);
    for (const [id, at] of accepted) {
      if (there.has(id)) continue;
      accepted.delete(id);
      lost++;
      // The clock of a cut is read after its pages were collected.
      assert.ok(at >= takenAt, `${id} was accepted at ${at}, before the cut of ${takenAt}, and is not there`);
    }
    assert.ok(takenAt >= sent.storedCutAt, 'the copy is older than the cut that the store had');
    kept = accepted.size;
    await daemon.cli(['restore', 'release', '--yes']);
    await untilDelivered(daemon, accepted.size);
    const { findings } = (await daemon.cli(['mailbox', 'check', MAILBOX])) as { findings: unknown[] };
    assert.deepEqual(findings, []);
  }
  await daemon.stop();
  return {
    lines: [
      `${kills} primaries killed, ${POINTS.length} kills of a promotion; ${kept} emails kept, ${lost} accepted after the newest cut`,
    ],
    faults: [],
  };
}

async function createSite(): Promise<Site> {
  const root = temporaryDirectory('standby');
  const store = join(root, 'store');
  mkdirSync(store);
  const secret = await generateIdentity();
  const identity = join(root, 'identity.txt');
  writeFileSync(identity, `${secret}\n`);
  const env = {
    POSTRIDER_STANDBY_STORE: pathToFileURL(store).href,
    POSTRIDER_BACKUP_RECIPIENTS: await identityToRecipient(secret),
    POSTRIDER_LOG_LEVEL: 'warn',
  };
  return { root, env, identity, key: '' };
}

/** Sends emails to the mailbox until a random time after the first cut, and kills the daemon. */
async function killUnderLoad(
  daemon: DaemonProcess,
  { key }: Site,
  random: SeededRandom,
): Promise<{ accepted: Accepted[]; storedCutAt: number }> {
  const accepted: Accepted[] = [];
  let isOver = false;
  const sending = (async () => {
    for (let number = 0; !isOver; number++) {
      const { status, body } = await daemon
        .request('POST', '/v1/emails', key, emailOf(number))
        .catch(() => ({ status: 0, body: undefined }));
      if (status === 200) accepted.push({ id: (body as { id: string }).id, at: Date.now() });
    }
  })();
  await untilStored(daemon);
  await sleep(random.between(LIFE_MS.low, LIFE_MS.high));
  const storedCutAt = await untilStored(daemon);
  await daemon.kill('SIGKILL');
  isOver = true;
  await sending;
  return { accepted, storedCutAt };
}

function emailOf(number: number): Record<string, unknown> {
  const content = Buffer.alloc(ATTACHMENT_BYTES, `attachment ${number} `).toString('base64');
  return {
    ...{ from: 'hello@sandbox.localhost', to: MAILBOX, subject: `Number ${number}`, text: 'Hi' },
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
    after = `&cursor=${encodeURIComponent(nextCursor)}`;
  }
}

/** Waits until each email is in the mailbox once. */
async function untilDelivered(daemon: DaemonProcess, emails: number): Promise<void> {
  const endsAt = Date.now() + LIMIT_MS;
  for (;;) {
    const { messageCount: messages } = (await daemon.cli(['mailbox', 'show', MAILBOX])) as {
      messageCount: number;
    };
    assert.ok(messages <= emails, `${messages} messages of ${emails} emails: one is there twice`);
    if (messages === emails) return;
    if (Date.now() > endsAt) throw new Error(`${messages} of ${emails} emails have reached the mailbox`);
    await sleep(POLL_MS);
  }
}
