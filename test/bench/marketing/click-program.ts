/**
 * Readers who follow links, over kept connections, each request from another address. With a rate, requests leave at their
 * planned times and a latency counts from the planned time; without one, as fast as they are answered. Runs in a process of
 * its own and prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { percentile } from '../percentile.ts';

export type ClickInput = {
  port: number;
  host: string;
  /** Name of a file with one path a line. */
  paths: string;
  connections: number;
  /** Null for as many as are answered. */
  perSecond: number | null;
  durationMs: number;
};

export type ClickResult = { clicks: number; perSecond: number; p50Ms: number; p99Ms: number };

const input = JSON.parse(process.argv[2] ?? '') as ClickInput;
const paths = readFileSync(input.paths, 'utf8').split('\n');
const latencies: number[] = [];
let sent = 0;
const idle: ((plannedAt: number) => void)[] = [];
const planned: number[] = [];

const sockets = await Promise.all(Array.from({ length: input.connections }, open));
const startedAt = performance.now();
const until = startedAt + input.durationMs;
await Promise.all([...sockets.map(run), plan()]);
const result: ClickResult = {
  clicks: latencies.length,
  perSecond: (latencies.length * 1_000) / (performance.now() - startedAt),
  p50Ms: percentile(latencies, 0.5),
  p99Ms: percentile(latencies, 0.99),
};
console.log(JSON.stringify(result));
process.exit(0);

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: input.port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

/** Hands out the planned times of a paced load, to connections that are idle or to those that get idle. */
async function plan(): Promise<void> {
  if (input.perSecond === null) return;
  for (let index = 0; ; index++) {
    const at = startedAt + (index * 1_000) / input.perSecond;
    if (at > until) break;
    while (performance.now() < at) await new Promise((resolve) => setTimeout(resolve, 1));
    const take = idle.pop();
    if (take) take(at);
    else planned.push(at);
  }
  for (const take of idle.splice(0)) take(Number.POSITIVE_INFINITY);
}

function nextStart(): Promise<number> | number {
  if (input.perSecond === null) return performance.now();
  const waiting = planned.shift();
  if (waiting !== undefined) return waiting;
  return performance.now() > until ? Number.POSITIVE_INFINITY : new Promise((resolve) => idle.push(resolve));
}

async function run(socket: Socket): Promise<void> {
  for (;;) {
    const plannedAt = await nextStart();
    if (plannedAt > until || performance.now() > until + input.durationMs) return;
    await follow(socket, sent++);
    latencies.push(performance.now() - plannedAt);
  }
}

/** Resolves with the answer, which is short and arrives whole. */
function follow(socket: Socket, index: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (answer: Buffer) => {
      socket.off('error', reject);
      if (answer.toString('latin1', 9, 12) === '302') resolve();
      else reject(new Error(`a click was answered\n${answer.toString('latin1', 0, 500)}`));
    });
    const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
    socket.write(
      `GET ${paths[index % paths.length]} HTTP/1.1\r\nhost: ${input.host}\r\n` +
        `x-forwarded-for: ${address}\r\nuser-agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0)\r\n\r\n`,
    );
  });
}
