/**
 * The load of submission: kept sessions over TLS, each of which logs in where it is told to, and hands over one message after the other. Runs
 * in a process of its own, and prints one line of JSON.
 */
import { connect, type TLSSocket } from 'node:tls';
import type { LoadResult } from './observe.ts';
import { percentile } from './percentile.ts';
import { repliesOf } from './smtp-conversation.ts';

export type SubmissionLoad = {
  port: number;
  sessions: number;
  messages: number;
  /** User name and password; undefined for a server that asks for none. */
  login: { username: string; password: string } | undefined;
  sender: string;
  recipient: string;
  /** Header and text of the message, with CRLF line ends and without a line that begins with a dot. */
  message: string;
};

const load = JSON.parse(process.argv[2] ?? '') as SubmissionLoad;
const message = `${load.message}.\r\n`;
const envelope = `MAIL FROM:<${load.sender}>\r\nRCPT TO:<${load.recipient}>\r\nDATA\r\n`;
const latencies = new Float64Array(load.messages);
let begun = 0;
let ended = 0;

type Client = { socket: TLSSocket; reply(): Promise<string> };

const clients = await Promise.all(Array.from({ length: load.sessions }, open));
const startedAtMs = Date.now();
const cpuBefore = process.cpuUsage();
await Promise.all(clients.map(run));
const { user, system } = process.cpuUsage(cpuBefore);
const result: LoadResult = {
  startedAtMs,
  endedAtMs: Date.now(),
  p50Ms: percentile(latencies, 0.5),
  p99Ms: percentile(latencies, 0.99),
  cpuMs: (user + system) / 1_000,
};
console.log(JSON.stringify(result));
process.exit(0);

async function open(): Promise<Client> {
  const socket = connect({ host: '127.0.0.1', port: load.port, rejectUnauthorized: false });
  socket.setNoDelay(true);
  const client = { socket, reply: repliesOf(socket) };
  await expect(client, '220');
  await say(client, 'EHLO client.test\r\n', '250');
  if (!load.login) return client;
  const answer = Buffer.from(`\0${load.login.username}\0${load.login.password}`).toString('base64');
  await say(client, `AUTH PLAIN ${answer}\r\n`, '235');
  return client;
}

/** Clients pipeline the envelope, and send the message once they are asked for it. */
async function run(client: Client): Promise<void> {
  while (begun < load.messages) {
    begun++;
    const since = performance.now();
    client.socket.write(envelope);
    for (const code of ['250', '250', '354']) await expect(client, code);
    await say(client, message, '250');
    latencies[ended++] = performance.now() - since;
  }
}

async function say(client: Client, text: string, code: string): Promise<void> {
  client.socket.write(text);
  await expect(client, code);
}

async function expect({ reply }: Client, code: string): Promise<void> {
  const line = await reply();
  if (!line.startsWith(code)) throw new Error(`the server answered ${line}`);
}
