/**
 * Processor time and memory of a process and all it started, from /proc. Children that have ended are counted through
 * their parent, which has reaped them.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

type Stat = { pid: number; name: string; parent: number; ownTicks: number; reapedTicks: number };

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const KIBIBYTES_PER_MEBIBYTE = 1024;

/** Since each root began. */
export function treeCpuMs(roots: readonly number[]): number {
  const ticks = tree(roots).reduce((sum, stat) => sum + stat.ownTicks + stat.reapedTicks, 0);
  return toMs(ticks);
}

/**
 * Processor time of the threads of one process that run now, in ms by name, from proc(5)'s task folders. Node names its main thread and
 * its own threads itself, and those of the daemon have the names that it gives them.
 */
export function threadCpuMs(pid: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = readStat(`${pid}/task/${task}`);
    if (stat) sums.set(stat.name, (sums.get(stat.name) ?? 0) + toMs(stat.ownTicks));
  }
  return sums;
}

export type Memory = {
  /** Proportional set size: pages that processes share count once, in parts. */
  proportionalMiB: number;
  /** Resident set size: what `ps` shows; shared pages count in each process. */
  residentMiB: number;
};

export function treeMemory(roots: readonly number[]): Memory {
  const rollups = tree(roots).map(({ pid }) => readOptional(`/proc/${pid}/smaps_rollup`) ?? '');
  const sumMiB = (name: string) =>
    rollups.reduce((sum, rollup) => sum + readKiB(rollup, name), 0) / KIBIBYTES_PER_MEBIBYTE;
  return { proportionalMiB: sumMiB('Pss'), residentMiB: sumMiB('Rss') };
}

/** Of one process; cheap enough to be asked many times a second. */
export function residentMiB(pid: number): number {
  return readKiB(readOptional(`/proc/${pid}/status`) ?? '', 'VmRSS') / KIBIBYTES_PER_MEBIBYTE;
}

const LOOK_EVERY_MS = 20;

/** Watches the resident memory of a process until it is disposed of, and tells its growth and its peak. */
export function watchMemory(pid: number): Disposable & { growthMiB(): number; peakMiB(): number } {
  const before = residentMiB(pid);
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMiB(pid));
  }, LOOK_EVERY_MS);
  return {
    growthMiB: () => peak - before,
    peakMiB: () => peak,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Of the children of this process that have ended. */
export function reapedCpuMs(): number {
  return toMs(readStat('self')?.reapedTicks ?? 0);
}

/** Of all processors together, idle time and waiting for the disk left out (proc(5), /proc/stat). */
export function machineCpuMs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = readFileSync('/proc/stat', 'utf8')
    .slice(0, 200)
    .split('\n', 1)
    .join('')
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return toMs(user + nice + system + irq + softirq);
}

function toMs(ticks: number): number {
  return (ticks * 1000) / TICKS_PER_SECOND;
}

function tree(roots: readonly number[]): Stat[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(name) ?? []);
  const found = all.filter((stat) => roots.includes(stat.pid));
  for (const parent of found) found.push(...all.filter((stat) => stat.parent === parent.pid));
  return found;
}

/** proc(5): the name stands in parentheses and may hold anything; field 3 follows it. */
function readStat(pid: string): Stat | undefined {
  const text = readOptional(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return {
    pid: Number.parseInt(text, 10),
    name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    parent: field(4),
    ownTicks: field(14) + field(15),
    reapedTicks: field(16) + field(17),
  };
}

/** A line of proc(5)'s status or smaps_rollup, such as `VmRSS:   1234 kB`. */
function readKiB(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
}

/** A process may end between the listing and the reading. */
function readOptional(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
