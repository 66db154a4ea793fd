/**
 * Clients that bring no mail, in a process of their own: some name recipients that do not exist, in kept sessions, and print one line of
 * JSON; others connect and wait, or send a byte of a message each second, and print how many of them are connected.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { PLAIN_AUTHOR } from './inbound-messages.ts';
import { SENDER_DOMAIN } from './message.ts';
import type { LoadResult } from './observe.ts';
import { type Conversation, converse } from './smtp-conversation.ts';

export type GuessingClients = {
  kind: 'guess';
  port: number;
  sessions: number;
  perSecond: number;
  seconds: number;
};
export type WaitingClients = { kind: 'wait'; port: number; idle: number; dripping: number };

/** A relay of the operator may name any number of recipients that do not exist (inbound-daemon.ts). */
const GUESSES_PER_TRANSACTION = 50;
const CONNECTING_AT_ONCE = 100;
const DRIP_MS = 1_000;

const clients = JSON.parse(process.argv[2] ?? '') as GuessingClients | WaitingClients;
if (clients.kind === 'guess') await guess(clients);
else await wait(clients);

async function guess({ port, sessions, perSecond, seconds }: GuessingClients): Promise<void> {
  const startedAtMs = Date.now();
  const since = performance.now();
  const cpuBefore = process.cpuUsage();
  const guesses = perSecond * seconds;
  let made = 0;
  const session = async () => {
    const client = await openTransaction(port);
    while (made < guesses) {
      for (let count = 0; count < GUESSES_PER_TRANSACTION && made < guesses; count++) {
        made++;
        await delay(Math.max(0, since + (made * 1_000) / perSecond - performance.now()));
        const reply = await client.say(`RCPT TO:<guess${made}@${SENDER_DOMAIN}>`);
        if (!reply.startsWith('550')) throw new Error(`an unknown recipient was answered ${reply}`);
      }
      await client.say('RSET');
      await client.say(`MAIL FROM:<${PLAIN_AUTHOR}>`);
    }
    client.socket.destroy();
  };
  await Promise.all(Array.from({ length: sessions }, session));
  const { user, system } = process.cpuUsage(cpuBefore);
  const result: LoadResult = {
    ...{ startedAtMs, endedAtMs: Date.now(), cpuMs: (user + system) / 1_000 },
    ...{ p50Ms: Number.NaN, p99Ms: Number.NaN },
  };
  console.log(JSON.stringify(result));
  process.exit(0);
}

async function openTransaction(port: number): Promise<Conversation> {
  const client = converse({ port });
  await client.reply();
  await client.say('EHLO client.test');
  await client.say(`MAIL FROM:<${PLAIN_AUTHOR}>`);
  return client;
}

async function wait({ port, idle, dripping }: WaitingClients): Promise<void> {
  let open = 0;
  const watch = (client: Conversation) => {
    open++;
    client.socket.once('close', () => open--);
  };
  await inTurns(idle, async () => {
    const client = converse({ port });
    await client.reply();
    watch(client);
  });
  await inTurns(dripping, async () => {
    const client = await openTransaction(port);
    await client.say(`RCPT TO:<drip@${SENDER_DOMAIN}>`);
    await client.say('DATA');
    watch(client);
    setInterval(() => client.socket.write('a'), DRIP_MS);
  });
  console.log(open);
  await once(process, 'SIGTERM');
}

async function inTurns(count: number, run: () => Promise<void>): Promise<void> {
  let begun = 0;
  const worker = async () => {
    while (begun < count) {
      begun++;
      await run();
    }
  };
  await Promise.all(Array.from({ length: CONNECTING_AT_ONCE }, worker));
}
