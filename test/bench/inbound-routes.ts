/** The row about posts to many destinations, one of which never answers. */
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { listenOnLoopback } from '../support/loopback.ts';
import { addRoute, startInboundDaemon } from './inbound-daemon.ts';
import { PLAIN_AUTHOR } from './inbound-messages.ts';
import { SENDER_DOMAIN } from './message.ts';
import { percentile } from './percentile.ts';
import { startSilentServer } from './postrider.ts';
import { until } from './program.ts';
import type { Measure } from './row.ts';
import { converse } from './smtp-conversation.ts';
import type { Workspace } from './workspace.ts';

const DESTINATIONS = 100;
/** Messages to each destination. */
const MESSAGES = 10;
const SESSIONS = 5;
/** Messages of all sessions together. As fast as they can, they would arrive faster than they are posted. */
const PER_SECOND = 100;
const POSTED_TIMEOUT_MS = 60_000;

/** Returns the longest time from the 250 of a message to its post, apart from those to the destination that is dead. */
export async function measureRoutes(workspace: Workspace, zone: string): Promise<Measure> {
  using silent = await startSilentServer();
  using receiver = await startReceiver();
  await using postrider = await startInboundDaemon(workspace, { zone });
  for (let index = 0; index < DESTINATIONS; index++) {
    await addRoute(postrider, `to${index}`, index === 0 ? silent.port : receiver.port);
  }
  const accepted = await sendAll(postrider.inboundPort);
  const expected = [...accepted.keys()].filter((subject) => !subject.startsWith('to0 '));
  await until('all messages are posted', POSTED_TIMEOUT_MS, () =>
    expected.every((subject) => receiver.postedAt.has(subject)),
  );
  const delays = expected.map((subject) =>
    Math.max((receiver.postedAt.get(subject) ?? 0) - (accepted.get(subject) ?? 0), 0),
  );
  return {
    figure: percentile(delays, 1),
    p50Ms: percentile(delays, 0.5),
    p99Ms: percentile(delays, 0.99),
  };
}

/** Sends the messages, those to one destination between those to the others. Returns the time of each 250, by subject. */
async function sendAll(port: number): Promise<Map<string, number>> {
  const accepted = new Map<string, number>();
  let next = 0;
  const since = performance.now();
  const session = async () => {
    const client = converse({ port });
    await client.reply();
    await client.say('EHLO client.test');
    for (let index = next++; index < DESTINATIONS * MESSAGES; index = next++) {
      await delay(Math.max(0, since + (index * 1_000) / PER_SECOND - performance.now()));
      const localPart = `to${index % DESTINATIONS}`;
      const subject = `${localPart} ${index}`;
      for (const line of [`MAIL FROM:<${PLAIN_AUTHOR}>`, `RCPT TO:<${localPart}@${SENDER_DOMAIN}>`, 'DATA'])
        await client.say(line);
      const reply = await client.say(`From: ${PLAIN_AUTHOR}\r\nSubject: ${subject}\r\n\r\nHello.\r\n.\r\n`);
      if (!reply.startsWith('250')) throw new Error(`the message was refused: ${reply}`);
      accepted.set(subject, performance.now());
    }
    client.socket.destroy();
  };
  await Promise.all(Array.from({ length: SESSIONS }, session));
  return accepted;
}

/** Starts the destination of all routes but one. It notes when the message of each subject was posted first. */
async function startReceiver() {
  const postedAt = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const at = performance.now();
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { subject } = JSON.parse(Buffer.concat(pieces).toString()) as { subject: string };
    if (!postedAt.has(subject)) postedAt.set(subject, at);
    response.end();
  });
  const port = await listenOnLoopback(server);
  return { port, postedAt, [Symbol.dispose]: () => void server.close() };
}
