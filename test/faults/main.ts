/**
 * `npm run test:faults`: proves on real files, disks and processes that nothing acknowledged is lost. Prints what was
 * done, with its seed, and ends with 1 on any loss. Parts this machine cannot run are named and left out.
 *
 *     --full           the long run (about an hour)
 *     --only PART      disk-check, power-cut, control, io-error or kill; may be given several times
 *     --seed NUMBER    repeats a run, as far as the machine's timing lets it
 */
import { parseArgs } from 'node:util';
import { checkVolatileDisk } from './disk/check.ts';
import { buildVolatileDisk } from './disk/volatile-disk.ts';
import { runIoErrors } from './io-error.ts';
import { runKills } from './kill.ts';
import { runPowerCuts } from './power-cut.ts';
import { describeCuts, describeKills, lostIn, unreached } from './report.ts';
import { lackingForKills, lackingForPowerCuts } from './requirements.ts';
import { workingDirectory } from './undo.ts';

const SHORT = { runs: 4, cutsPerRun: 5, controlRuns: 2, kills: 50, limitMinutes: 15 };
const FULL = { runs: 40, cutsPerRun: 10, controlRuns: 4, kills: 500, limitMinutes: 120 };

type Result = { ok: boolean; lines: string[] };
type Settings = typeof SHORT & { seed: number };
type Disk = { program: string; directory: string };

/** Parts, by how they ended. */
const counts = { pass: 0, fail: 0, skipped: 0 };

const DISK_PARTS = {
  'disk-check': checkDisk,
  'power-cut': cutPower,
  control: cutPowerUnsafely,
  'io-error': breakDisk,
} satisfies Record<string, (disk: Disk, settings: Settings) => Promise<Result>>;

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    seed: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
  },
});
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
process.exitCode = (await main({ ...(values.full ? FULL : SHORT), seed }, values.only)) ? 0 : 1;

async function main(settings: Settings, only: readonly string[]): Promise<boolean> {
  const wanted = (part: string) => only.length === 0 || only.includes(part);
  const known = [...Object.keys(DISK_PARTS), 'kill'];
  for (const part of only) {
    if (!known.includes(part)) throw new Error(`there is no part "${part}", only ${known.join(', ')}`);
  }
  stopWhenLate(settings.limitMinutes);
  console.log(`Seed ${settings.seed}`);
  // Side by side: both mostly wait, one for its disk and the other for its daemon.
  await Promise.all([runDiskParts(settings, wanted), runKillPart(settings, wanted)]);
  summarize();
  return counts.fail === 0;
}

async function runDiskParts(settings: Settings, wanted: (part: string) => boolean): Promise<void> {
  const parts = Object.entries(DISK_PARTS).filter(([part]) => wanted(part));
  const lacking = lackingForPowerCuts();
  if (lacking.length > 0) {
    for (const [part] of parts) skip(part, lacking);
  } else if (parts.length > 0) {
    const directory = workingDirectory();
    const disk = { directory, program: await buildVolatileDisk(directory) };
    for (const [part, run] of parts) await report(part, () => run(disk, settings));
  }
}

async function runKillPart(settings: Settings, wanted: (part: string) => boolean): Promise<void> {
  if (!wanted('kill')) return;
  const lacking = lackingForKills();
  if (lacking.length > 0) skip('kill', lacking);
  else await report('kill', () => killAgainAndAgain(settings));
}

function skip(part: string, lacking: readonly string[]): void {
  counts.skipped += 1;
  console.log(`${part.padEnd(10)}  SKIPPED  this machine lacks ${lacking.join(', ')}`);
}

/** In the form of Node's test runner, so that the figures of all suites can be added up. */
function summarize(): void {
  const tests = counts.pass + counts.fail + counts.skipped;
  for (const [name, count] of Object.entries({ tests, ...counts })) console.log(`ℹ ${name} ${count}`);
}

/** Exits, which undoes mounts and ends daemons; unreferenced, so it never keeps a finished run alive. */
function stopWhenLate(minutes: number): void {
  setTimeout(() => {
    console.log(`FAILED  not finished after ${minutes} minutes`);
    process.exit(1);
  }, minutes * 60_000).unref();
}

async function report(part: string, run: () => Promise<Result>): Promise<void> {
  const began = performance.now();
  const { ok, lines } = await run();
  const seconds = Math.round((performance.now() - began) / 1_000);
  counts[ok ? 'pass' : 'fail'] += 1;
  console.log(`${part.padEnd(10)}  ${ok ? 'ok    ' : 'FAILED'}  ${seconds} s`);
  for (const line of lines) console.log(`            ${line}`);
}

async function checkDisk(disk: Disk): Promise<Result> {
  await checkVolatileDisk(disk.program, disk.directory);
  return { ok: true, lines: ['flushed bytes survive, unflushed ones as often as asked, errors arrive'] };
}

async function cutPower(disk: Disk, settings: Settings): Promise<Result> {
  const verdicts = await runPowerCuts({ ...disk, ...settings, synchronous: 'FULL' });
  const ok = verdicts.every((verdict) => lostIn(verdict) === 0 && verdict.faults.length === 0);
  return { ok, lines: describeCuts(verdicts) };
}

/** The instrument's proof: with commits that are not flushed, the same cuts must find losses. */
async function cutPowerUnsafely(disk: Disk, settings: Settings): Promise<Result> {
  const runs = settings.controlRuns;
  const verdicts = await runPowerCuts({ ...disk, ...settings, runs, synchronous: 'NORMAL' });
  const caught = verdicts.filter((verdict) => lostIn(verdict) > 0).length;
  const most = Math.max(...verdicts.map(lostIn));
  const cuts = verdicts.filter(({ moment }) => moment === 'load').length;
  return {
    ok: caught > 0,
    lines: [`synchronous=NORMAL lost acknowledged email in ${caught} of ${cuts} cuts, up to ${most} at once`],
  };
}

async function breakDisk(disk: Disk, settings: Settings): Promise<Result> {
  const verdicts = await runIoErrors({ ...disk, seed: settings.seed });
  const ok = verdicts.every((verdict) => lostIn(verdict) === 0 && verdict.faults.length === 0);
  return { ok, lines: describeCuts(verdicts) };
}

async function killAgainAndAgain(settings: Settings): Promise<Result> {
  const verdict = await runKills(settings);
  const { lost, unexplained, changed, strangers } = verdict.judgement;
  const wrong = [...lost, ...unexplained, ...changed, ...strangers, ...verdict.faults, ...unreached(verdict)];
  return { ok: wrong.length === 0, lines: describeKills(verdict) };
}
