/** The parts of the fault tests that are about mailboxes. */
import { describeMailboxes } from '../report.ts';
import { runMailboxFewFiles } from './few-files.ts';
import { type MailboxFullDiskOptions, runMailboxFullDisks } from './full-disk.ts';
import { runGrammar } from './grammar.ts';
import { type MailboxKillOptions, runMailboxKills } from './kill.ts';
import type { MailboxReport } from './place.ts';
import { runMailboxCuts, runMailboxErrors } from './power-cut.ts';

type Settings = { mailboxes: Pick<MailboxKillOptions, 'kills'> & { cuts: number; inputs: number } };
type Place = Settings & MailboxFullDiskOptions;
type Result = { ok: boolean; lines: string[] };

/** Ends the daemon with kill -9. */
export async function killMailboxes({ seed, mailboxes }: Place): Promise<Result> {
  return keptWell(await runMailboxKills({ seed, kills: mailboxes.kills }));
}

/** Cuts the power. */
export async function cutMailboxes(place: Place & { program: string }): Promise<Result> {
  return keptWell(await runMailboxCuts({ ...place, cuts: place.mailboxes.cuts }));
}

/** Lets the disk fail. */
export async function breakDiskOfMailboxes(place: Place & { program: string }): Promise<Result> {
  return keptWell(await runMailboxErrors(place));
}

/** Takes the files of the daemon. */
export async function takeFilesOfMailboxes({ seed, cycles }: Place): Promise<Result> {
  return keptWell(await runMailboxFewFiles({ seed, cycles }));
}

/** Fills the disk. */
export async function fillDiskOfMailboxes(place: Place): Promise<Result> {
  return keptWell(await runMailboxFullDisks(place));
}

/** Sends very many commands. */
export async function fuzzGrammar({ directory, seed, mailboxes }: Place): Promise<Result> {
  const { inputs, heapMegabytes, faults } = await runGrammar({ directory, seed, inputs: mailboxes.inputs });
  const sizes = heapMegabytes.map((size) => size.toFixed(1));
  const heap = `heap ${sizes[0]} MB after the first account, ${sizes.at(-1)} MB after ${sizes.length}`;
  return { ok: faults.length === 0, lines: [`${inputs} commands; ${heap}`, ...faults] };
}

function keptWell(report: MailboxReport): Result {
  return { ok: report.faults.length === 0, lines: describeMailboxes(report) };
}
