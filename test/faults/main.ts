/**
 * `npm run test:faults`: proves on real files, disks and processes that nothing acknowledged is lost. Prints what was
 * done, with its seed, and ends with 1 on any loss. Parts this machine cannot run are named and left out.
 *
 *     --full           the long run, with 1,000 kills of a daemon that receives mail and 500 of one with mailboxes (about an hour)
 *     --only PART      one part of those below, with those whose names begin with it, such as broadcast-cut for
 *                      broadcast; may be given several times
 *     --inputs NUMBER  commands that mailboxes-grammar sends, 500,000 in the long run
 *     --seed NUMBER    repeats a run, as far as the machine's timing lets it
 */
import { parseArgs } from 'node:util';
import { compileProgram, freshProgram } from '../support/fresh-program.ts';
import { killApprovals } from './approvals.ts';
import { killBackups } from './backups.ts';
import { fillDiskOfBroadcasts } from './broadcast/full-disk.ts';
import { killBroadcasts } from './broadcast/kill.ts';
import { pauseBroadcast } from './broadcast/pauses.ts';
import { cutBroadcasts } from './broadcast/power-cut.ts';
import { killOrders } from './certificate-orders.ts';
import { jumpClock } from './clock-jump.ts';
import { cutDeliveries } from './cut-delivery.ts';
import { cutMigrations } from './cut-migration.ts';
import { tamperWithData } from './data-directory.ts';
import { killDeliveryThread } from './delivery-thread.ts';
import { checkVolatileDisk } from './disk/check.ts';
import { failFlushes } from './failed-flush.ts';
import { takeFiles } from './few-files.ts';
import { fillDisk } from './full-disk.ts';
import { fillDiskOfReceived } from './inbound/full-disk.ts';
import { killReceiving } from './inbound/kill.ts';
import { cutReceiving } from './inbound/power-cut.ts';
import { breakDisk } from './io-error.ts';
import { killRotations } from './key-rotations.ts';
import { killAgainAndAgain } from './kill.ts';
import { takeFilesOfMailboxes } from './mailboxes/few-files.ts';
import { fillDiskOfMailboxes } from './mailboxes/full-disk.ts';
import { fuzzGrammar } from './mailboxes/grammar.ts';
import { killMailboxes } from './mailboxes/kill.ts';
import { breakDiskOfMailboxes, cutMailboxes } from './mailboxes/power-cut.ts';
import { stopMigrations } from './migration.ts';
import { FULL, type Place, type Result, SHORT } from './part.ts';
import { cutPower, cutPowerUnsafely } from './power-cut.ts';
import { killQueueActions } from './queue-actions.ts';
import { forbidWrites } from './read-only.ts';
import { describeFaults } from './report.ts';
import {
  lackingForClockJumps,
  lackingForFailedFlushes,
  lackingForFewFiles,
  lackingForFullDisks,
  lackingForKills,
  lackingForMigrations,
  lackingForPowerCuts,
  lackingForReadOnly,
} from './requirements.ts';
import { killRetention } from './retention.ts';
import { killScripts } from './scripts/kill.ts';
import { killPrimary } from './standby.ts';
import { fillDiskOfSubmission } from './submission/full-disk.ts';
import { killSubmission } from './submission/kill.ts';
import { cutSubmission } from './submission/power-cut.ts';
import { killTenantDeletion } from './tenant-deletion.ts';
import { terminateAgainAndAgain } from './terminate.ts';
import { workingDirectory } from './undo.ts';

type Part = [lacking: () => string[], run: (place: Place) => Promise<Result>];

/** The parts mostly wait, for disks, daemons and clocks: so many keep two cores busy, and leave each part enough of them. */
const PARTS_AT_A_TIME = 5;

/** In the order in which they begin: those that take longest come first, so that none is left alone at the end. */
const PARTS: Record<string, Part> = {
  'disk-check': [lackingForPowerCuts, checkVolatileDisk],
  inbound: [lackingForKills, killReceiving],
  mailboxes: [lackingForKills, killMailboxes],
  broadcast: [lackingForKills, killBroadcasts],
  kill: [lackingForKills, killAgainAndAgain],
  submission: [lackingForKills, killSubmission],
  scripts: [lackingForKills, killScripts],
  'power-cut': [lackingForPowerCuts, cutPower],
  'few-files': [lackingForFewFiles, takeFiles],
  'data-directory': [lackingForKills, tamperWithData],
  'inbound-full-disk': [lackingForFullDisks, fillDiskOfReceived],
  'submission-full-disk': [lackingForFullDisks, fillDiskOfSubmission],
  control: [lackingForPowerCuts, cutPowerUnsafely],
  'broadcast-cut': [lackingForPowerCuts, cutBroadcasts],
  migration: [lackingForMigrations, stopMigrations],
  terminate: [lackingForKills, terminateAgainAndAgain],
  'delivery-thread': [lackingForKills, killDeliveryThread],
  backups: [lackingForKills, killBackups],
  standby: [lackingForKills, killPrimary],
  'certificate-orders': [lackingForKills, killOrders],
  'key-rotations': [lackingForKills, killRotations],
  'clock-jump': [lackingForClockJumps, jumpClock],
  'inbound-cut': [lackingForPowerCuts, cutReceiving],
  'submission-cut': [lackingForPowerCuts, cutSubmission],
  'failed-flush': [lackingForFailedFlushes, failFlushes],
  'full-disk': [lackingForFullDisks, fillDisk],
  retention: [lackingForKills, killRetention],
  'queue-actions': [lackingForKills, killQueueActions],
  approvals: [lackingForKills, killApprovals],
  'broadcast-pauses': [() => [], pauseBroadcast],
  'tenant-deletion': [lackingForKills, killTenantDeletion],
  'mailboxes-cut': [lackingForPowerCuts, cutMailboxes],
  'mailboxes-error': [lackingForPowerCuts, breakDiskOfMailboxes],
  'mailboxes-few-files': [lackingForFewFiles, takeFilesOfMailboxes],
  'mailboxes-grammar': [() => [], fuzzGrammar],
  'read-only': [lackingForReadOnly, forbidWrites],
  'broadcast-full-disk': [lackingForFullDisks, fillDiskOfBroadcasts],
  'mailboxes-full-disk': [lackingForFullDisks, fillDiskOfMailboxes],
  'cut-delivery': [lackingForPowerCuts, cutDeliveries],
  'cut-migration': [lackingForPowerCuts, cutMigrations],
  'io-error': [lackingForPowerCuts, breakDisk],
};

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

async function main(settings: Omit<Place, 'directory'>, only: readonly string[]): Promise<boolean> {
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
    const [lacking, run] = PARTS[name] as Part;
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
  const { lines, faults } = await run().catch((error: Error) => ({
    lines: [],
    faults: [error.stack ?? String(error)],
  }));
  const seconds = Math.round((performance.now() - began) / 1_000);
  const ok = faults.length === 0;
  counts[ok ? 'pass' : 'fail'] += 1;
  console.log(`${part.padEnd(12)}  ${ok ? 'ok    ' : 'FAILED'}  ${seconds} s`);
  for (const line of [...lines, ...describeFaults(faults)]) console.log(`              ${line}`);
}
