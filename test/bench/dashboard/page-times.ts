/** How long the server takes for pages, and how large they are. */
import type { DaemonProcess } from '../../support/daemon.ts';
import { median, percentile } from '../percentile.ts';
import { treeMemory } from '../process-tree.ts';
import type { Measure } from '../row.ts';
import type { PageKind } from './pages.ts';

/** Time between two pages, in milliseconds: a person may open 50 a second. */
export const PAUSE_MS = 20;

type Times = { name: string; p95Ms: number; p99Ms: number; bytes: number };

/** Opens each page some times, one after the other. The figure is the slowest p95 of a page. */
export async function measurePages(
  daemon: DaemonProcess,
  kinds: readonly PageKind[],
  requestsPerPage: number,
): Promise<Measure> {
  // A page that is only slow the first time is not what is asked.
  for (const kind of kinds) await openOnce(kind);
  const times: Times[] = [];
  for (const kind of kinds) times.push(await timesOf(kind, requestsPerPage));
  const details = times
    .toSorted((a, b) => b.p95Ms - a.p95Ms)
    .map(({ name, p95Ms, p99Ms, bytes }) => [
      [`p95 of ${name}`, p95Ms],
      [`p99 of ${name}`, p99Ms],
      [`bytes of ${name}`, bytes],
    ]);
  return {
    figure: Math.max(...times.map(({ p95Ms }) => p95Ms)),
    p50Ms: median(times.map(({ p95Ms }) => p95Ms)),
    p99Ms: Math.max(...times.map(({ p99Ms }) => p99Ms)),
    memory: treeMemory([daemon.pid]),
    details: Object.fromEntries(details.flat()),
  };
}

async function timesOf(kind: PageKind, requests: number): Promise<Times> {
  const times: number[] = [];
  let largest = 0;
  for (let count = 0; count < requests; count++) {
    const { ms, bytes } = await openOnce(kind);
    times.push(ms);
    largest = Math.max(largest, bytes);
  }
  const [p95Ms, p99Ms] = [percentile(times, 0.95), percentile(times, 0.99)];
  return { name: kind.name, p95Ms, p99Ms, bytes: largest };
}

async function openOnce(kind: PageKind) {
  const opened = await kind.open();
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  return opened;
}
