/**
 * `npm run test:faults`: proves on real files, disks and processes that nothing acknowledged is lost. Prints what was
 * done, with its seed, and ends with 1 on any loss. Parts this machine cannot run are named and left out.
 *
 *     --full           the long run, with 1,000 kills of a daemon that receives mail and 500 of one with mailboxes (about an hour)
 *     --only PART      one part of those below, with those whose names begin with it, such as broadcast-cut for
 *                      broadcast; may be given several times
 *     --inputs NUMBER  commands that mailboxes-grammar sends, 2,000,000 in the long run
 *     --seed NUMBER    repeats a run, as far as the machine's timing lets it
 */
import { parseArgs } from 'node:util';
import { compileProgram, freshProgram } from '../support/fresh-program.ts';
import type { BroadcastVerdict } from './broadcast/audit.ts';
import { runBroadcastFullDisks } from './broadcast/full-disk.ts';
import { runBroadcastKills } from './broadcast/kill.ts';
import { runBroadcastCuts } from './broadcast/power-cut.ts';
import { runClockJumps } from './clock-jump.ts';
import { runCutDeliveries } from './cut-delivery.ts';
import { lostIn } from './cut-judge.ts';
import { runCutMigrations } from './cut-migration.ts';
import { runDataDirectories } from './data-directory.ts';
import type { DeadlyVerdict } from './deaths.ts';
import { checkVolatileDisk } from './disk/check.ts';
import { buildVolatileDisk } from './disk/volatile-disk.ts';
import { runFailedFlushes } from './failed-flush.ts';
import type { FaultCyclesVerdict } from './fault-cycles.ts';
import { runFewFiles } from './few-files.ts';
import { runFullDisk } from './full-disk.ts';
import { cutReceiving, fillDiskOfReceived, killReceiving } from './inbound/parts.ts';
import { runIoErrors } from './io-error.ts';
import { runKills } from './kill.ts';
import {
  breakDiskOfMailboxes,
  cutMailboxes,
  fillDiskOfMailboxes,
  fuzzGrammar,
  killMailboxes,
  takeFilesOfMailboxes,
} from './mailboxes/parts.ts';
import { runMigrations } from './migration.ts';
import { findLoss, runPowerCuts } from './power-cut.ts';
import { runReadOnly } from './read-only.ts';
import {
  describeBroadcasts,
  describeCuts,
  describeDeaths,
  describeFaultCycles,
  describeKills,
  describeReckoning,
  describeTerminations,
  unreached,
  wrongIn,
} from './report.ts';
import {
  clockLibrary,
  lackingForClockJumps,
  lackingForFailedFlushes,
  lackingForFewFiles,
  lackingForFullDisks,
  lackingForKills,
  lackingForMigrations,
  lackingForPowerCuts,
  lackingForReadOnly,
} from './requirements.ts';
import { runRetentionKills } from './retention.ts';
import { killScripts } from './scripts/part.ts';
import { seededRandom } from './seeded-random.ts';
import { cutSubmission, fillDiskOfSubmission, killSubmission } from './submission/parts.ts';
import { runTerminations } from './terminate.ts';
import { workingDirectory } from './undo.ts';

const SHORT = {
  runs: 2,
  deliveries: 1,
  cutsPerRun: 4,
  controlRuns: 2,
  kills: 18,
  cycles: 2,
  broadcast: { contacts: 1_000, kills: { named: 1, random: 6 }, cuts: 2, cutContacts: 1_000 },
  inbound: { kills: { named: 1, random: 2 }, cuts: 1 },
  submission: { kills: { named: 1, random: 2 }, cuts: 1 },
  scripts: { kills: { named: 1, random: 2 } },
  mailboxes: { kills: { named: 1, random: 2 }, cuts: 1, inputs: 10_000 },
  limitMinutes: 11,
};
const FULL = {
  runs: 8,
  deliveries: 4,
  cutsPerRun: 5,
  controlRuns: 4,
  kills: 200,
  cycles: 20,
  broadcast: { contacts: 20_000, kills: { named: 3, random: 200 }, cuts: 10, cutContacts: 5_000 },
  inbound: { kills: { named: 16, random: 616 }, cuts: 6 },
  submission: { kills: { named: 16, random: 104 }, cuts: 6 },
  scripts: { kills: { named: 16, random: 104 } },
  mailboxes: { kills: { named: 18, random: 248 }, cuts: 50, inputs: 2_000_000 },
  limitMinutes: 150,
};
/** One of each jump. */
const MIN_JUMPS = 3;
const TERMINATIONS_PER_CYCLE = 3;

type Result = { ok: boolean; lines: string[] };
type Settings = typeof SHORT & { seed: number };
/** What every part is given; the directory goes with the run. */
type Place = Settings & { directory: string };
type Part = { lacking: () => string[]; run: (place: Place) => Promise<Result> };

/** The parts mostly wait, for disks, daemons and clocks: so many keep two cores busy, and leave each part enough of them. */
const PARTS_AT_A_TIME = 5;

/** In the order in which they begin: those that take longest come first, so that none is left alone at the end. */
const PARTS: Record<string, Part> = {
  'disk-check': { lacking: lackingForPowerCuts, run: checkDisk },
  inbound: { lacking: lackingForKills, run: killReceiving },
  mailboxes: { lacking: lackingForKills, run: killMailboxes },
  broadcast: { lacking: lackingForKills, run: killBroadcasts },
  kill: { lacking: lackingForKills, run: killAgainAndAgain },
  submission: { lacking: lackingForKills, run: killSubmission },
  scripts: { lacking: lackingForKills, run: killScripts },
  'power-cut': { lacking: lackingForPowerCuts, run: cutPower },
  'few-files': { lacking: lackingForFewFiles, run: takeFiles },
  'data-directory': { lacking: lackingForKills, run: tamperWithData },
  'inbound-full-disk': { lacking: lackingForFullDisks, run: fillDiskOfReceived },
  'submission-full-disk': { lacking: lackingForFullDisks, run: fillDiskOfSubmission },
  control: { lacking: lackingForPowerCuts, run: cutPowerUnsafely },
  'broadcast-cut': { lacking: lackingForPowerCuts, run: cutBroadcasts },
  migration: { lacking: lackingForMigrations, run: cutMigrationsShort },
  terminate: { lacking: lackingForKills, run: terminateAgainAndAgain },
  'clock-jump': { lacking: lackingForClockJumps, run: jumpClock },
  'inbound-cut': {
    lacking: lackingForPowerCuts,
    run: async (place) => cutReceiving(await withDisk(place)),
  },
  'submission-cut': {
    lacking: lackingForPowerCuts,
    run: async (place) => cutSubmission(await withDisk(place)),
  },
  'failed-flush': { lacking: lackingForFailedFlushes, run: failFlushes },
  'full-disk': { lacking: lackingForFullDisks, run: fillDisk },
  retention: { lacking: lackingForKills, run: killRetention },
  'mailboxes-cut': {
    lacking: lackingForPowerCuts,
    run: async (place) => cutMailboxes(await withDisk(place)),
  },
  'mailboxes-error': {
    lacking: lackingForPowerCuts,
    run: async (place) => breakDiskOfMailboxes(await withDisk(place)),
  },
  'mailboxes-few-files': { lacking: lackingForFewFiles, run: takeFilesOfMailboxes },
  'mailboxes-grammar': { lacking: () => [], run: fuzzGrammar },
  'read-only': { lacking: lackingForReadOnly, run: forbidWrites },
  'broadcast-full-disk': { lacking: lackingForFullDisks, run: fillDiskOfBroadcasts },
  'mailboxes-full-disk': { lacking: lackingForFullDisks, run: fillDiskOfMailboxes },
  'cut-delivery': { lacking: lackingForPowerCuts, run: cutDeliveries },
  'cut-migration': { lacking: lackingForPowerCuts, run: cutMigrations },
  'io-error': { lacking: lackingForPowerCuts, run: breakDisk },
};

/** Compiled once, for the parts that use it. */
let program: Promise<string> | undefined;

/** Parts, by how they ended. */
const counts = { pass: 0, fail: 0, skipped: 0 };

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    seed: { type: 'string' },
    inputs: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
  },
});
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
// Daemons start from the compiled program in a third of the time.
if (freshProgram() === undefined) await compileProgram();
const chosen = values.full ? FULL : SHORT;
const mailboxes = { ...chosen.mailboxes, ...(values.inputs && { inputs: Number(values.inputs) }) };
const ok = await main({ ...chosen, mailboxes, seed }, values.only);
// At once: what a failed part left running is ended by the exit handlers.
process.exitCode = ok ? 0 : 1;
setImmediate(() => process.exit());

async function main(settings: Settings, only: readonly string[]): Promise<boolean> {
  const known = Object.keys(PARTS);
  for (const part of only) {
    if (!known.includes(part)) throw new Error(`there is no part "${part}", only ${known.join(', ')}`);
  }
  stopWhenLate(settings.limitMinutes);
  console.log(`Seed ${settings.seed}`);
  const place = { ...settings, directory: workingDirectory() };
  const left = known.filter(
    (name) => only.length === 0 || only.some((one) => name === one || name.startsWith(`${one}-`)),
  );
  await Promise.all(Array.from({ length: PARTS_AT_A_TIME }, () => runParts(left, place)));
  summarize();
  return counts.fail === 0;
}

/** Runs one part after the other, until none is left. */
async function runParts(left: string[], place: Place): Promise<void> {
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    const { lacking, run } = PARTS[name] as Part;
    const what = lacking();
    if (what.length > 0) skip(name, what);
    else await report(name, () => run(place));
  }
}

function skip(part: string, lacking: readonly string[]): void {
  counts.skipped += 1;
  console.log(`${part.padEnd(12)}  SKIPPED  this machine lacks ${lacking.join(', ')}`);
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

/** A part that throws has failed; the others go on. */
async function report(part: string, run: () => Promise<Result>): Promise<void> {
  const began = performance.now();
  const { ok, lines } = await run().catch((error: Error) => ({
    ok: false,
    lines: [error.stack ?? String(error)],
  }));
  const seconds = Math.round((performance.now() - began) / 1_000);
  counts[ok ? 'pass' : 'fail'] += 1;
  console.log(`${part.padEnd(12)}  ${ok ? 'ok    ' : 'FAILED'}  ${seconds} s`);
  for (const line of lines) console.log(`              ${line}`);
}

async function withDisk(place: Place): Promise<Place & { program: string }> {
  program ??= buildVolatileDisk(place.directory);
  return { ...place, program: await program };
}

async function checkDisk(place: Place): Promise<Result> {
  const disk = await withDisk(place);
  await checkVolatileDisk(disk.program, disk.directory);
  return { ok: true, lines: ['flushed bytes survive, unflushed ones as often as asked, errors arrive'] };
}

async function cutPower(place: Place): Promise<Result> {
  const verdicts = await runPowerCuts(await withDisk(place));
  const ok = verdicts.every((verdict) => lostIn(verdict) === 0 && verdict.faults.length === 0);
  return { ok, lines: describeCuts(verdicts) };
}

/** The instrument's proof: with commits that are not flushed, the same cuts must find losses. One is enough. */
async function cutPowerUnsafely(place: Place): Promise<Result> {
  const verdicts = await findLoss({ ...(await withDisk(place)), runs: place.controlRuns });
  const lost = verdicts.map(lostIn).at(-1) ?? 0;
  return {
    ok: lost > 0,
    lines: [`synchronous=NORMAL lost ${lost} acknowledged emails in cut ${verdicts.length}`],
  };
}

async function breakDisk(place: Place): Promise<Result> {
  const verdicts = await runIoErrors(await withDisk(place));
  const ok = verdicts.every((verdict) => lostIn(verdict) === 0 && verdict.faults.length === 0);
  return { ok, lines: describeCuts(verdicts) };
}

async function killAgainAndAgain(settings: Settings): Promise<Result> {
  const verdict = await runKills(settings);
  const wrong = [...wrongIn(verdict), ...unreached(verdict)];
  return { ok: wrong.length === 0, lines: describeKills(verdict) };
}

async function cutDeliveries(place: Place): Promise<Result> {
  const verdicts = await runCutDeliveries({ ...(await withDisk(place)), runs: place.deliveries });
  return {
    ok: verdicts.every((verdict) => wrongIn(verdict).length === 0),
    lines: verdicts.flatMap(describeReckoning),
  };
}

async function cutMigrations(place: Place): Promise<Result> {
  const { random, cycles } = { random: seededRandom(place.seed), cycles: place.cycles };
  const verdict = await runCutMigrations({ ...(await withDisk(place)), random, cycles });
  const { cuts, lostPieces, untouched, migrated, faults } = verdict;
  const left = `left ${untouched} untouched, ${migrated} migrated`;
  return {
    ok: faults.length === 0,
    lines: [`${cuts} cuts, which lost ${lostPieces} pieces, ${left}`, ...faults],
  };
}

async function terminateAgainAndAgain({ cycles, seed }: Place): Promise<Result> {
  const verdict = await runTerminations({
    cycles: cycles * TERMINATIONS_PER_CYCLE,
    random: seededRandom(seed),
  });
  return { ok: wrongIn(verdict).length === 0, lines: describeTerminations(verdict) };
}

async function tamperWithData({ directory, seed }: Place): Promise<Result> {
  const { cases, faults } = await runDataDirectories({ directory, random: seededRandom(seed) });
  return { ok: faults.length === 0, lines: [`${cases.length} cases: ${cases.join(', ')}`, ...faults] };
}

async function killRetention({ cycles }: Place): Promise<Result> {
  const { kills, expired, kept, faults } = await runRetentionKills({ cycles });
  const done = `${kills} kills; ${expired} emails expired, ${kept} that have not ended kept everything`;
  return { ok: faults.length === 0, lines: [done, ...faults] };
}

async function killBroadcasts({ seed, broadcast: { contacts, kills } }: Place): Promise<Result> {
  const verdict = await runBroadcastKills({ seed, contacts, kills });
  const places = Object.entries(verdict.kills).map(([at, count]) => `${at} ${count}`);
  return endedWell([verdict], `kills: ${places.join(', ')}`);
}

async function cutBroadcasts(place: Place): Promise<Result> {
  const { cuts, cutContacts: contacts } = place.broadcast;
  return endedWell(await runBroadcastCuts({ ...(await withDisk(place)), cuts, contacts }), `${cuts} cuts`);
}

async function fillDiskOfBroadcasts({ directory, seed, cycles, broadcast }: Place): Promise<Result> {
  const { cutContacts: contacts } = broadcast;
  const verdict = await runBroadcastFullDisks({ directory, seed, cycles, contacts });
  return endedWell([verdict], `${cycles} times`);
}

function endedWell(verdicts: readonly BroadcastVerdict[], done: string): Result {
  const ok = verdicts.every(({ faults }) => faults.length === 0);
  return { ok, lines: [done, ...describeBroadcasts(verdicts)] };
}

async function cutMigrationsShort({ directory, cycles, seed }: Place): Promise<Result> {
  const verdict = await runMigrations({ directory, cycles, random: seededRandom(seed) });
  const { kills, fullDisks, untouched, migrated, faults } = verdict;
  const ends = `${kills} kills and ${fullDisks} full disks`;
  return {
    ok: faults.length === 0,
    lines: [`${ends} left ${untouched} untouched, ${migrated} migrated`, ...faults],
  };
}

async function fillDisk({ directory, cycles, seed }: Place): Promise<Result> {
  return livedThrough(await runFullDisk({ directory, cycles, random: seededRandom(seed) }));
}

async function takeFiles({ cycles, seed }: Place): Promise<Result> {
  return livedThrough(await runFewFiles({ cycles, random: seededRandom(seed) }));
}

async function jumpClock({ cycles, seed }: Place): Promise<Result> {
  const library = clockLibrary() ?? '';
  const jumps = Math.max(cycles, MIN_JUMPS);
  return livedThrough(await runClockJumps({ library, cycles: jumps, random: seededRandom(seed) }));
}

async function failFlushes({ cycles, seed }: Place): Promise<Result> {
  return diedWell(await runFailedFlushes({ cycles, random: seededRandom(seed) }));
}

async function forbidWrites({ directory, cycles, seed }: Place): Promise<Result> {
  return diedWell(await runReadOnly({ directory, cycles, random: seededRandom(seed) }));
}

function livedThrough(verdict: FaultCyclesVerdict): Result {
  return { ok: wrongIn(verdict).length === 0, lines: describeFaultCycles(verdict) };
}

function diedWell(verdict: DeadlyVerdict): Result {
  return { ok: wrongIn(verdict).length === 0, lines: describeDeaths(verdict) };
}
