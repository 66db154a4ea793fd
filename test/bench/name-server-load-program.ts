/** Asks the name server over UDP from many source addresses at a fixed rate, in a process of its own, and prints what came back. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { encode } from 'dns-packet';

export type NameServerLoad = {
  port: number;
  hostname: string;
  /** Number of source addresses, each in a network of its own. */
  sources: number;
  perSecond: number;
  seconds: number;
};

export type NameServerLoadResult = {
  sent: number;
  /** Responses with records, or that a name is not there. */
  answered: number;
  /** Responses that ask for TCP. */
  truncated: number;
  seconds: number;
};

const TRUNCATED = 0x02;
/** Time between two batches of queries, in milliseconds. */
const BATCH_MS = 2;
/** Time for the last responses, in milliseconds. */
const LAST_MS = 500;

const load = JSON.parse(process.argv[2] ?? '') as NameServerLoad;
const queries = questions(load.hostname);
const counts = { answered: 0, truncated: 0 };
const sockets = await Promise.all(Array.from({ length: load.sources }, (_, index) => open(index)));
const startedAt = performance.now();
let sent = 0;
while (performance.now() - startedAt < load.seconds * 1_000) {
  const due = ((performance.now() - startedAt) / 1_000) * load.perSecond;
  for (; sent < due; sent += 1) {
    sockets[sent % sockets.length]?.send(queries[sent % queries.length] ?? '', load.port, '127.0.0.1');
  }
  await delay(BATCH_MS);
}
const seconds = (performance.now() - startedAt) / 1_000;
await delay(LAST_MS);
console.log(JSON.stringify({ sent, ...counts, seconds } satisfies NameServerLoadResult));
process.exit(0);

/** Different types of records, and as many names that are not there. */
function questions(hostname: string): Buffer[] {
  const there = [
    ['A', hostname],
    ['AAAA', `track.${hostname}`],
    ['MX', `bounce.${hostname}`],
    ['TXT', `_spf.${hostname}`],
    ['TXT', `x.example._report._dmarc.${hostname}`],
  ] as const;
  const names = there.flatMap(([type, name], index) => [
    { type, name },
    { type, name: `nobody-${index}.${hostname}` },
  ]);
  return names.map((question) => encode({ type: 'query', id: 1, flags: 0, questions: [question] }));
}

async function open(index: number): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', lookup: (address, _options, done) => done(null, address, 4) });
  socket.on('message', (response) => {
    if (((response[2] ?? 0) & TRUNCATED) === 0) counts.answered += 1;
    else counts.truncated += 1;
  });
  socket.on('error', () => {});
  const listening = once(socket, 'listening');
  socket.bind(0, `127.${1 + Math.floor(index / 256)}.${index % 256}.1`);
  await listening;
  return socket;
}
