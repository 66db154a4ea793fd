/**
 * kill -9 while a tenant is deleted: before and after the commit of a slice, between a slice and the removal of its files, and at any time.
 * Later starts finish the deletion: no row of the tenant is left, and another tenant has everything that it had.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import type { CrashPointName } from '../../src/crash-points.ts';
import { TABLES } from '../../src/db/tables.ts';
import type { showTenant } from '../../src/tenants/admin-schemas.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Place, Result } from './part.ts';
import { seededRandom } from './seeded-random.ts';

const POINTS: readonly CrashPointName[] = [
  'tenant-erase-before-commit',
  'tenant-erase-after-commit',
  'tenant-erase-before-files',
];
const BATCHES = 5;
const EMAILS_PER_BATCH = 100;
/** Number of emails with a file that is too large for a row. */
const LARGE_EMAILS = 10;
const LARGE_FILE = Buffer.from('Many words. '.repeat(40_000)).toString('base64');
/** Maximum time from the start of a daemon to a kill, in milliseconds. */
const MAX_KILL_AFTER_MS = 1_000;
const LATER_MS = 24 * 3_600_000;

type Tenant = ReturnType<typeof showTenant>;
type Kept = { key: string; ids: string[] };

/** Kills the daemon in the middle of a deletion, and judges what is left. */
export async function killTenantDeletion({ cycles, seed }: Place): Promise<Result> {
  const dataDir = temporaryDirectory('tenant-deletion');
  const random = seededRandom(seed);
  const { tenantId, kept } = await fill(dataDir);
  const ends = [...POINTS, ...Array.from({ length: cycles }, () => undefined)];
  let kills = 0;
  for (const [index, crashAt] of ends.entries()) {
    const daemon = await startDaemonProcess({ dataDir, ...(crashAt !== undefined && { crashAt }) });
    // The first start is told to delete, and the later ones go on with it.
    const told = index === 0 ? daemon.cli(['tenant', 'delete', tenantId, '--yes']) : Promise.resolve();
    const ended = told.catch(() => undefined);
    if (crashAt === undefined) await sleep(random.between(0, MAX_KILL_AFTER_MS));
    else await Promise.race([daemon.exited, sleep(10 * MAX_KILL_AFTER_MS)]);
    await daemon.kill('SIGKILL');
    await ended;
    kills++;
  }
  const faults = await finish(dataDir, { tenantId, kept });
  return {
    lines: [`${kills} kills; the tenant is gone, and the other one has its ${kept.ids.length} emails`],
    faults,
  };
}

/** Gives two tenants mail that is due tomorrow. */
async function fill(dataDir: string): Promise<{ tenantId: string; kept: Kept }> {
  const daemon = await startDaemonProcess({ dataDir });
  const [first] = (await daemon.cli(['tenant', 'list'])) as Tenant[];
  await daemon.cli(['tenant', 'create', 'kept']);
  const made = (await daemon.cli([
    ...['key', 'create', '--tenant', 'kept', '--mode', 'test', '--permission', 'full_access', '--name', 'k'],
  ])) as { token: string };
  await send(daemon, daemon.testKey ?? '', BATCHES);
  const kept = { key: made.token, ids: await send(daemon, made.token, 1) };
  await daemon.stop();
  return { tenantId: first?.id ?? '', kept };
}

async function send(daemon: DaemonProcess, key: string, batches: number): Promise<string[]> {
  const scheduledAt = new Date(Date.now() + LATER_MS).toISOString();
  const email = {
    ...{ from: 'hello@sandbox.localhost', to: 'delivered@simulator.localhost', subject: 'Hi', text: 'Hi' },
    ...{ type: 'transactional', scheduledAt },
  };
  const ids: string[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const emails = Array.from({ length: EMAILS_PER_BATCH }, () => email);
    const { body } = await daemon.request('POST', '/v1/emails/batch', key, { emails });
    ids.push(...(body as { data: { id: string }[] }).data.map(({ id }) => id));
  }
  for (let index = 0; index < LARGE_EMAILS; index++) {
    const attachments = [{ filename: `${index}.txt`, content: LARGE_FILE }];
    const body = { ...email, subject: `Large ${index}`, attachments };
    const answer = await daemon.request('POST', '/v1/emails', key, body);
    ids.push((answer.body as { id: string }).id);
  }
  return ids;
}

/** Lets the deletion finish, and returns what is wrong. */
async function finish(
  dataDir: string,
  { tenantId, kept }: { tenantId: string; kept: Kept },
): Promise<string[]> {
  const daemon = await startDaemonProcess({ dataDir });
  const faults: string[] = [];
  try {
    await waitUntil(async () => {
      const tenants = (await daemon.cli(['tenant', 'list'])) as Tenant[];
      return !tenants.some(({ id }) => id === tenantId);
    }, 'the tenant is gone');
    for (const id of kept.ids) {
      const { status, body } = await daemon.request('GET', `/v1/emails/${id}`, kept.key);
      if (status !== 200 || (body as { text?: string }).text !== 'Hi') faults.push(`${id} is not whole`);
    }
  } finally {
    await daemon.stop();
  }
  return [...faults, ...findLeftOver(dataDir, tenantId)];
}

function findLeftOver(dataDir: string, tenantId: string): string[] {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  const left = Object.entries(TABLES)
    .filter(([, { columns }]) => 'tenantId' in columns)
    .map(([name]) => {
      const count = database.prepare<[string], number>(`SELECT count(*) FROM "${name}" WHERE tenantId = ?`);
      return { name, rows: count.pluck().get(tenantId) ?? 0 };
    })
    .filter(({ rows }) => rows > 0);
  const orphans = database.pragma('foreign_key_check') as unknown[];
  const check = database.pragma('integrity_check', { simple: true });
  database.close();
  return [
    ...left.map(({ name, rows }) => `${rows} rows of ${name} are left`),
    ...(orphans.length === 0 ? [] : [`${orphans.length} rows name others that do not exist`]),
    ...(check === 'ok' ? [] : [`the database is damaged: ${check}`]),
  ];
}
