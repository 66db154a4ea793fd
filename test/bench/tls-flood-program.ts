/** Opens new TLS connections at a steady rate from one address, and ends each after its handshake. Prints one line of JSON. */
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';

type TlsFlood = { port: number; serverName: string; perSecond: number; seconds: number };

export type TlsFloodResult = { served: number; refused: number };

/** Time between two groups of connections, in milliseconds. */
const INTERVAL_MS = 10;

const { port, serverName, perSecond, seconds } = JSON.parse(process.argv[2] ?? '') as TlsFlood;
const result: TlsFloodResult = { served: 0, refused: 0 };
const startedAt = performance.now();
let opened = 0;
for (;;) {
  const elapsedMs = performance.now() - startedAt;
  if (elapsedMs >= seconds * 1_000) break;
  for (; opened < (elapsedMs / 1_000) * perSecond; opened++) openOne();
  await delay(INTERVAL_MS);
}
console.log(JSON.stringify(result));
process.exit(0);

function openOne(): void {
  const socket = connect({ port, host: '127.0.0.1', servername: serverName, rejectUnauthorized: false });
  let isServed = false;
  socket.once('secureConnect', () => {
    isServed = true;
    socket.destroy();
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    result[isServed ? 'served' : 'refused'] += 1;
  });
}
