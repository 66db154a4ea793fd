/**
 * kill -9 while retention deletes: after a slice, and between the commit of a slice and the removal of its files. Passes
 * that follow finish the work: what has expired is gone, with its files, and mail that has not ended keeps everything.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { createApiServer } from '../../src/api.ts';
import { type App, openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { CrashPointName } from '../../src/crash-points.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { emailBody } from '../emails/fixtures.ts';
import { temporaryDirectory } from '../support/daemon.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import type { Place, Result } from './part.ts';

const TYPESCRIPT = new URL('../../bin/typescript.ts', import.meta.url).href;
const PROGRAM = fileURLToPath(new URL('retention-program.ts', import.meta.url));
/** The files get the time of the machine, and a sweep moves none that is younger than the daemon's clock. */
const START = Date.now();
/** The first pass deletes content, the second one what is left. */
const PASSES = [START + 31 * DAY_MS, START + 401 * DAY_MS];
const POINTS: readonly CrashPointName[] = ['retention-before-files', 'retention-between-slices'];
const EMAILS = 40;
/** Every fourth email is held, and so has not ended. */
const HELD_EVERY = 4;
/** An attachment that is too large for a row, so that its bytes are a file. */
const LARGE_FILE = Buffer.from('Many words. '.repeat(40_000)).toString('base64');
/** Sweeps move a file to the trash at first, and remove it from there a week later. */
const SWEEPS = 2;
/** Number of kills of each kind after which files are swept. A sweep refuses to take more than 10 files of so few. */
const CYCLES_PER_SWEEP = 5;

type Mail = { id: string; isHeld: boolean };
type Filled = { dataDir: string; key: string; mail: Mail[] };

/** Kills each pass so many times at each point, and then lets it finish. */
export async function killRetention({ cycles }: Place): Promise<Result> {
  const filled = await fill();
  const faults: string[] = [];
  let kills = 0;
  for (const nowMs of PASSES) {
    for (let cycle = 0; cycle < cycles; cycle++) {
      for (const point of POINTS) if (await runPass(filled.dataDir, nowMs, point)) kills++;
      if (cycle % CYCLES_PER_SWEEP === CYCLES_PER_SWEEP - 1) faults.push(...(await sweep(filled, nowMs)));
    }
    if (await runPass(filled.dataDir, nowMs)) faults.push('a pass without a crash point did not end');
    faults.push(...(await judge(filled, nowMs)));
  }
  if (kills < POINTS.length) faults.push(`only ${kills} kills were reached`);
  const kept = filled.mail.filter(({ isHeld }) => isHeld).length;
  const expired = filled.mail.length - kept;
  const done = `${kills} kills; ${expired} emails expired, ${kept} that have not ended kept everything`;
  return { lines: [done], faults };
}

async function fill(): Promise<Filled> {
  const dataDir = temporaryDirectory('retention');
  const env = { POSTRIDER_DATA_DIR: dataDir };
  const test = await openTestApp({ env, system: { clock: createFakeClock(START) } });
  const mail: Mail[] = [];
  for (let index = 0; index < EMAILS; index++) {
    const attachments = index % 2 === 1 ? [{ filename: `${index}.txt`, content: LARGE_FILE }] : undefined;
    const body = emailBody({ subject: `Email ${index}`, text: `${index} words`, attachments });
    const { body: sent } = await test.request('POST', '/v1/emails', { body });
    mail.push({ id: sent.id, isHeld: index % HELD_EVERY < 2 && index % (HELD_EVERY * 2) < 2 });
  }
  await (await test.openServer()).close();
  // `close` would remove the directory too.
  await (test.app as App & AsyncDisposable)[Symbol.asyncDispose]();
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  const settle = database.prepare(
    'UPDATE recipients SET state = ?, dueAt = NULL, runId = NULL WHERE messageId = ?',
  );
  for (const { id, isHeld } of mail) settle.run(isHeld ? 'held' : 'delivered', id);
  database.exec('UPDATE events SET fannedOut = 1');
  database.close();
  return { dataDir, key: test.testKey, mail };
}

/** Runs a pass in a process of its own. Returns true when it was killed. */
async function runPass(dataDir: string, nowMs: number, crashAt?: CrashPointName): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', TYPESCRIPT, PROGRAM, String(nowMs)], {
    env: {
      ...process.env,
      POSTRIDER_DATA_DIR: dataDir,
      POSTRIDER_LOG_LEVEL: 'silent',
      ...(crashAt !== undefined && { POSTRIDER_CRASH_AT: crashAt }),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (signal === 'SIGKILL') return true;
  if (code !== 0) throw new Error(`the pass ended with ${code ?? signal}`);
  return false;
}

async function open({ dataDir }: Filled, nowMs: number) {
  const clock = createFakeClock(nowMs);
  const config = loadConfig({ env: { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_LOG_LEVEL: 'silent' } });
  return { clock, app: await openApp(config, { clock }) };
}

async function sweep(filled: Filled, nowMs: number): Promise<string[]> {
  const { app } = await open(filled, nowMs);
  await using _ = app;
  return await sweepOnce(app);
}

async function sweepOnce(app: App): Promise<string[]> {
  const { stopped } = await app.blobs.sweep();
  return stopped ? [`a sweep stopped at ${stopped.unnamed} of ${stopped.files} files`] : [];
}

async function judge(filled: Filled, nowMs: number): Promise<string[]> {
  const { dataDir, key, mail } = filled;
  const { clock, app } = await open(filled, nowMs);
  const server = await createApiServer(app);
  const faults: string[] = [];
  for (const { id, isHeld } of mail) {
    const headers = { authorization: `Bearer ${key}` };
    const response = await server.inject({ url: `/v1/emails/${id}`, headers });
    const state = describe(response.statusCode, response.json());
    const expected = isHeld ? 'whole' : nowMs === PASSES[0] ? 'without content' : 'gone';
    if (state !== expected) faults.push(`${id} is ${state}, not ${expected}`);
  }
  for (let number = 0; number < SWEEPS; number++) {
    faults.push(...(await sweepOnce(app)));
    await clock.advance(8 * DAY_MS);
  }
  await server.close();
  await app[Symbol.asyncDispose]();
  return [...faults, ...findLeaks(dataDir)];
}

function describe(status: number, email: { text?: string | null; contentDeletedAt?: string | null }): string {
  if (status === 404) return 'gone';
  if (status !== 200) return `answered with ${status}`;
  if (email.text) return 'whole';
  return email.contentDeletedAt ? 'without content' : 'without its text';
}

/** Compares the files with the rows that name them, and has SQLite check the database. */
function findLeaks(dataDir: string): string[] {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  const check = database.pragma('integrity_check', { simple: true });
  const orphans = database.pragma('foreign_key_check') as unknown[];
  const named = database
    .prepare<[], string>("SELECT DISTINCT sha256 FROM blobs WHERE data IS NULL AND sha256 <> ''")
    .pluck()
    .all();
  database.close();
  if (named.length === 0) return ['no email has a file, so nothing was proven about files'];
  const root = join(dataDir, 'blobs');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split('/').at(-1) ?? '')
    .filter((name) => name.length === 64);
  return [
    ...(check === 'ok' ? [] : [`the database is damaged: ${check}`]),
    ...(orphans.length === 0 ? [] : [`${orphans.length} rows name others that do not exist`]),
    ...files.filter((name) => !named.includes(name)).map((name) => `no row names the file ${name}`),
    ...named.filter((name) => !files.includes(name)).map((name) => `the file ${name} is missing`),
  ];
}
