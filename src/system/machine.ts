/** What this machine says about itself, without a look at the network. Tests replace it. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** `unknown`: this machine has no systemd, or does not answer. */
export type ClockSync = 'synchronized' | 'unsynchronized' | 'unknown';

export type Machine = {
  /** Asks systemd whether NTP keeps the clock right. The kernel knows it of every NTP program. */
  askClockSync(): Promise<ClockSync>;
  /** Returns the TCP ports on which programs of this user listen; undefined where the kernel does not say. */
  listListeningPorts(): Promise<ReadonlySet<number> | undefined>;
};

export const realMachine: Machine = { askClockSync, listListeningPorts };

const run = promisify(execFile);

/** Maximum time of the question whether the clock is set by NTP, in milliseconds. */
const CLOCK_TIMEOUT_MS = 3_000;

async function askClockSync(): Promise<ClockSync> {
  const asked = run('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
    timeout: CLOCK_TIMEOUT_MS,
  });
  const answer = await asked.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  if (answer === 'yes') return 'synchronized';
  return answer === 'no' ? 'unsynchronized' : 'unknown';
}

/** The tables of this process are there too where systemd hides all of /proc but processes (`ProcSubset=pid`). */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

async function listListeningPorts(): Promise<ReadonlySet<number> | undefined> {
  const uid = process.getuid?.();
  const tables = await Promise.all(TABLES.map((file) => readFile(file, 'latin1').catch(() => undefined)));
  if (uid === undefined || tables.every((table) => table === undefined)) return undefined;
  return new Set(tables.flatMap((table) => listeningPortsOf(table ?? '', uid)));
}

/** A socket that listens, in a line of proc_net_tcp(5): its port, and after its queues and timers the user that it belongs to. */
const LISTENING = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A \S+ \S+ \S+ +(\d+) /gm;

/** Returns the ports in a table on which a user listens. A port that another user holds, such as a web server, is not ours. */
export function listeningPortsOf(table: string, uid: number): number[] {
  return [...table.matchAll(LISTENING)].flatMap(([, port = '', owner]) =>
    Number(owner) === uid ? [Number.parseInt(port, 16)] : [],
  );
}
