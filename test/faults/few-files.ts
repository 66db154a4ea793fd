/**
 * No file descriptors left, again and again: the running daemon's limit is taken down to what it has open. Connections
 * may be refused; mail it has is not bounced, whatever its DNS queries and connections come back with, and leaves when
 * there are files again.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { DaemonProcess } from '../support/daemon.ts';
import { runFaultCycles } from './fault-cycles.ts';
import type { Place, Result } from './part.ts';
import { seededRandom } from './seeded-random.ts';
import { createWorld } from './world.ts';

const LASTS_MS = 2_000;
/** Free numbers left below the limit, in turn: none, and too few for a delivery or an attachment. */
const SPARES = [0, 1, 3];
/** An idle SMTP session is ended after 5 s; then the next delivery needs a new one. */
const SESSIONS_END_MS = 6_000;
const NEW_CONNECTIONS = 10;
const CONNECTION_TIMEOUT_MS = 30_000;

export async function takeFiles({ seed, cycles }: Place): Promise<Result> {
  await using world = await createWorld({ random: seededRandom(seed), name: 'files' });
  let usual = 0;
  let broken = 0;
  const result = await runFaultCycles(world, {
    cycles,
    lastsMs: LASTS_MS,
    begin: async ({ pid }, cycle) => {
      usual = limitOf(pid);
      await sleep(SESSIONS_END_MS);
      limitFiles(pid, lowest(pid) + (SPARES[cycle % SPARES.length] ?? 0));
    },
    inspect: async (daemon) => {
      const found = await connectAnew(daemon);
      broken += found.broken;
      return found.faults;
    },
    end: async ({ pid }) => limitFiles(pid, usual),
    mayBreakConnections: true,
    mustRefuse: false,
  });
  if (broken === 0) result.faults.push('no new connection was broken: the limit was never felt');
  return result;
}

/** Returns the lowest number that is free; the kernel gives out none at or above the limit. */
export function lowest(pid: number): number {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let number = 0;
  while (open.has(number)) number++;
  return number;
}

/** Returns the soft limit. */
export function limitOf(pid: number): number {
  const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
}

/** Sets the soft limit. */
export function limitFiles(pid: number, limit: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:`]);
}

/** New connections are answered, or broken, but do not hang. */
async function connectAnew({ address }: DaemonProcess): Promise<{ broken: number; faults: string[] }> {
  const faults: string[] = [];
  let broken = 0;
  for (let count = 0; count < NEW_CONNECTIONS; count++) {
    try {
      const { statusCode, body } = await request(`${address}/healthz`, {
        reset: true,
        headersTimeout: CONNECTION_TIMEOUT_MS,
        bodyTimeout: CONNECTION_TIMEOUT_MS,
      });
      await body.dump();
      if (statusCode !== 200 && statusCode !== 503) faults.push(`GET /healthz answers ${statusCode}`);
    } catch (error) {
      broken += 1;
      if (/timeout/i.test(String(error))) faults.push('a new connection hangs');
    }
  }
  return { broken, faults };
}
