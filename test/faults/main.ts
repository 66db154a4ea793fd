/**
 * `npm run test:faults`: proves on real files, disks and processes that nothing acknowledged is lost. Prints what was
 * done, with its seed, and ends with 1 on any loss. Parts this machine cannot run are named and left out.
 *
 *     --full           the long run (about an hour)
 *     --only PART      disk-check, power-cut, control, io-error or kill; may be given several times
 *     --seed NUMBER    repeats a run, as far as the machine's timing lets it
 */
import { parseArgs } from 'node:util';
import type { CutVerdict } from './cut-judge.ts';
import { checkVolatileDisk } from './disk/check.ts';
import { buildVolatileDisk } from './disk/volatile-disk.ts';
import { runIoErrors } from './io-error.ts';
import { type KillVerdict, runKills } from './kill.ts';
import { runPowerCuts } from './power-cut.ts';
import { lackingForKills, lackingForPowerCuts } from './requirements.ts';
import { workingDirectory } from './undo.ts';

const SHORT = { runs: 4, cutsPerRun: 5, controlRuns: 1, kills: 50, limitMinutes: 10 };
const FULL = { runs: 40, cutsPerRun: 10, controlRuns: 4, kills: 500, limitMinutes: 120 };

type Result = { ok: boolean; lines: string[] };
type Settings = typeof SHORT & { seed: number };
type Disk = { program: string; directory: string };

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
  const results: boolean[] = [];
  const diskParts = Object.entries(DISK_PARTS).filter(([part]) => wanted(part));
  const lacking = lackingForPowerCuts();
  if (lacking.length > 0) {
    for (const [part] of diskParts) skip(part, lacking);
  } else if (diskParts.length > 0) {
    const directory = workingDirectory();
    const disk = { directory, program: await buildVolatileDisk(directory) };
    for (const [part, run] of diskParts) results.push(await report(part, () => run(disk, settings)));
  }
  if (wanted('kill')) {
    if (lackingForKills().length > 0) skip('kill', lackingForKills());
    else results.push(await report('kill', () => killAgainAndAgain(settings)));
  }
  return results.every((ok) => ok);
}

function skip(part: string, lacking: readonly string[]): void {
  console.log(`${part.padEnd(10)}  SKIPPED  this machine lacks ${lacking.join(', ')}`);
}

/** Exits, which undoes mounts and ends daemons; unreferenced, so it never keeps a finished run alive. */
function stopWhenLate(minutes: number): void {
  setTimeout(() => {
    console.log(`FAILED  not finished after ${minutes} minutes`);
    process.exit(1);
  }, minutes * 60_000).unref();
}

async function report(part: string, run: () => Promise<Result>): Promise<boolean> {
  const began = performance.now();
  const { ok, lines } = await run();
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`${part.padEnd(10)}  ${ok ? 'ok    ' : 'FAILED'}  ${seconds} s`);
  for (const line of lines) console.log(`            ${line}`);
  return ok;
}

async function checkDisk(disk: Disk): Promise<Result> {
  await checkVolatileDisk(disk.program, disk.directory);
  return { ok: true, lines: ['flushed bytes survive, unflushed ones as often as asked, errors arrive'] };
}

async function cutPower(disk: Disk, settings: Settings): Promise<Result> {
  const verdicts = await runPowerCuts({ ...disk, ...settings, synchronous: 'FULL' });
  const ok = verdicts.every((verdict) => lost(verdict) === 0 && verdict.faults.length === 0);
  return { ok, lines: describeCuts(verdicts) };
}

/** The instrument's proof: with commits that are not flushed, the same cuts must find losses. */
async function cutPowerUnsafely(disk: Disk, settings: Settings): Promise<Result> {
  const runs = settings.controlRuns;
  const verdicts = await runPowerCuts({ ...disk, ...settings, runs, synchronous: 'NORMAL' });
  const caught = verdicts.filter((verdict) => lost(verdict) > 0).length;
  const most = Math.max(...verdicts.map(lost));
  const cuts = verdicts.filter(({ moment }) => moment === 'load').length;
  return {
    ok: caught > 0,
    lines: [`synchronous=NORMAL lost acknowledged email in ${caught} of ${cuts} cuts, up to ${most} at once`],
  };
}

async function breakDisk(disk: Disk, settings: Settings): Promise<Result> {
  const verdicts = await runIoErrors({ ...disk, seed: settings.seed });
  const ok = verdicts.every((verdict) => lost(verdict) === 0 && verdict.faults.length === 0);
  return { ok, lines: describeCuts(verdicts) };
}

function lost(verdict: CutVerdict): number {
  return verdict.missing + verdict.unreadable;
}

function describeCuts(verdicts: readonly CutVerdict[]): string[] {
  const sum = (figure: (verdict: CutVerdict) => number) =>
    verdicts.reduce((total, verdict) => total + figure(verdict), 0);
  const moments = Object.entries(Object.groupBy(verdicts, ({ moment }) => moment));
  const faults = verdicts.flatMap((verdict) => verdict.faults);
  return [
    moments.map(([moment, some]) => `${some?.length} cuts (${moment})`).join(', '),
    `acknowledged before them: ${sum((one) => one.acknowledged)}, of which large: ${sum((one) => one.acknowledgedLarge)}`,
    `unflushed writes at the cuts: ${sum((one) => one.pendingWrites)}, pieces of them lost: ${sum((one) => one.lostPieces)}`,
    `acknowledged and missing: ${sum((one) => one.missing)}, unreadable: ${sum((one) => one.unreadable)}`,
    ...describeFaults(faults),
  ];
}

async function killAgainAndAgain(settings: Settings): Promise<Result> {
  const verdict = await runKills(settings);
  const { lost, unexplained, changed, strangers } = verdict.judgement;
  const wrong = [...lost, ...unexplained, ...changed, ...strangers, ...verdict.faults, ...missed(verdict)];
  return { ok: wrong.length === 0, lines: describeKills(verdict) };
}

/** Deaths that did not come where they were planned. */
function missed(verdict: KillVerdict): string[] {
  return verdict.deaths.filter(({ asPlanned }) => !asPlanned).map(({ at }) => at);
}

function describeKills(verdict: KillVerdict): string[] {
  const { deaths, judgement } = verdict;
  const byPlace = Object.entries(Object.groupBy(deaths, ({ at }) => at));
  const slowest = Math.max(...deaths.map(({ startMs }) => startMs ?? 0));
  return [
    `${deaths.length} kills: ${byPlace.map(([at, some]) => `${at} ${some?.length}`).join(', ')}`,
    `acknowledged: ${verdict.acknowledged}, of which large: ${verdict.acknowledgedLarge}; requests repeated: ${verdict.repeated}`,
    `received: ${verdict.received}, of which again after a kill: ${judgement.duplicates}; slowest start: ${Math.round(slowest)} ms`,
    `lost: ${judgement.lost.length}, unexplained duplicates: ${judgement.unexplained.length}, ` +
      `changed in between: ${judgement.changed.length}, strangers: ${judgement.strangers.length}`,
    ...missed(verdict).map((at) => `not reached in time: ${at}`),
    ...describeFaults(verdict.faults),
  ];
}

const MOST_FAULTS_SHOWN = 10;

function describeFaults(faults: readonly string[]): string[] {
  const counted = Object.entries(Object.groupBy(faults, (fault) => fault));
  const shown = counted.slice(0, MOST_FAULTS_SHOWN).map(([fault, some]) => `${some?.length} x ${fault}`);
  const rest = counted.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more`] : shown;
}
