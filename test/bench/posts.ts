/**
 * Posts to webhook endpoints and to routes, beside the least program that posts the same bodies: how many reach a receiver in a
 * second, and what sending and receiving lose when everything is posted.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_TYPES } from '../../src/events/store.ts';
import { sampleBody } from '../../src/routes/post/sample.ts';
import { eventPayload } from '../../src/webhooks/deliver.ts';
import { sampleData } from '../../src/webhooks/sample.ts';
import { freePort } from '../support/loopback.ts';
import { ask, type Postrider, startPostrider } from './daemon.ts';
import { withLoopDelay } from './event-loop.ts';
import { PLAIN_AUTHOR } from './inbound-messages.ts';
import { SENDER_DOMAIN, sampleEmail, toMessage } from './message.ts';
import { observe, runHttpLoad } from './observe.ts';
import type { BarePostsInput } from './posting/bare-program.ts';
import { type Receiver, startReceiver } from './posting/receiver.ts';
import { startSilentServer } from './postrider.ts';
import { startModule } from './program.ts';
import type { Group, Measure, Row } from './row.ts';
import { startSink } from './sink.ts';
import { converse } from './smtp-conversation.ts';
import type { Workspace } from './workspace.ts';

/** What is posted: events of emails that are sent, or messages that are received. */
type Source = {
  name: 'webhook posts' | 'route posts';
  /** Name of the work that makes posts. */
  work: string;
  postsPerMessage: number;
  /** Body of a post of the least program. */
  body: string;
  /** Starts the daemon, which posts to this URL, or makes no posts that end. */
  start(workspace: Workspace, url?: string): Promise<Started>;
};

type Started = AsyncDisposable & {
  postrider: Postrider;
  /** Sends or receives at most so many messages, for at most so many seconds, and returns their number. */
  load(size: { messages: number; seconds?: number }): Promise<number>;
};

/** Number of posts that wait when the receiver begins to answer. */
const WAITING_POSTS = 7_500;
/** Number of posts before those that count, in which windows open. */
const WARM_UP_POSTS = 1_500;
/** Number of the last posts, which fill no window, and are left out. */
const LAST_POSTS = 100;
const ARRIVAL_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** Maximum number of open posts of an endpoint (setting `webhooks.maxOpenPerEndpoint`). */
const POST_CONNECTIONS = 64;
const LOAD_CONNECTIONS = 20;
/** Length of each of the two runs that are compared. */
const LOSS_SECONDS = 60;
const LOSS_WARM_UP_MESSAGES = 2_000;
/** More messages than a run can send. */
const MAX_MESSAGES = 1_000_000;

const webhooks: Source = {
  name: 'webhook posts',
  work: 'sends',
  // An email that is delivered at the first attempt is queued, sent and delivered.
  postsPerMessage: 3,
  body: eventPayload({
    ...{ id: `evt_${'0'.repeat(26)}`, type: 'email.delivered', mode: 'live', createdAt: Date.now() },
    data: JSON.stringify(sampleData('email.delivered', Date.now())),
  }),
  async start(workspace, url) {
    const sink = await startSink(workspace);
    const dataDir = workspace.newFolder('postrider');
    const postrider = await startPostrider({ dataDir, smtpPort: sink.port, webhooks: true });
    if (url !== undefined)
      await ask(postrider.daemon, ['POST', '/v1/webhooks', postrider.sender.key], {
        url,
        events: EVENT_TYPES,
      });
    return {
      postrider,
      async load({ messages, seconds }) {
        const before = sink.messages();
        const size = { connections: LOAD_CONNECTIONS, requests: messages };
        // A daemon under full load refuses some, and the load goes on.
        const limits = seconds === undefined ? {} : { seconds, isFlood: true };
        await runHttpLoad({ ...postrider.load(size), ...limits });
        if (seconds === undefined)
          await poll('the emails are delivered', () => sink.messages() - before >= messages);
        return sink.messages() - before;
      },
      async [Symbol.asyncDispose]() {
        await postrider[Symbol.asyncDispose]();
        await sink[Symbol.asyncDispose]();
      },
    };
  },
};

const routes: Source = {
  name: 'route posts',
  work: 'receiving',
  postsPerMessage: 1,
  body: sampleBody({ address: `*@${SENDER_DOMAIN}` }, Date.now()),
  async start(workspace, url) {
    const silent = await startSilentServer();
    const inboundPort = await freePort();
    const dataDir = workspace.newFolder('postrider');
    const postrider = await startPostrider({ dataDir, smtpPort: silent.port, webhooks: true, inboundPort });
    const destination = url ?? `http://127.0.0.1:${silent.port}/`;
    await ask(postrider.daemon, ['POST', '/v1/inbound/routes', postrider.sender.key], {
      address: `*@${SENDER_DOMAIN}`,
      destination,
    });
    return {
      postrider,
      load: (size) => receive(inboundPort, size),
      async [Symbol.asyncDispose]() {
        await postrider[Symbol.asyncDispose]();
        silent[Symbol.dispose]();
      },
    };
  },
};

/** Hands in messages by SMTP, and returns their number. */
async function receive(
  port: number,
  { messages, seconds = Number.POSITIVE_INFINITY }: { messages: number; seconds?: number },
): Promise<number> {
  const content = `${toMessage(sampleEmail(PLAIN_AUTHOR))}\r\n.`;
  const endAt = performance.now() + seconds * 1_000;
  let begun = 0;
  const session = async () => {
    const client = converse({ port });
    await client.reply();
    await client.say('EHLO client.test');
    for (; begun < messages && performance.now() < endAt; ) {
      begun += 1;
      for (const line of [`MAIL FROM:<${PLAIN_AUTHOR}>`, `RCPT TO:<r@${SENDER_DOMAIN}>`, 'DATA'])
        await client.say(line);
      const reply = await client.say(content);
      if (!reply.startsWith('250')) throw new Error(`the message was refused: ${reply}`);
    }
    client.socket.destroy();
  };
  await Promise.all(Array.from({ length: LOAD_CONNECTIONS }, session));
  return begun;
}

/** Asks until the answer is yes, seldom enough to cost nothing. */
async function poll(what: string, ask: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + ARRIVAL_TIMEOUT_MS;
  while (!(await ask())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${ARRIVAL_TIMEOUT_MS} ms`);
    await delay(POLL_MS);
  }
}

/** Each post is answered after this time, in milliseconds. */
const CASES = [
  { delayMs: 50, name: 'answered after 50 ms', aim: 'at least 800 posts/s' },
  { delayMs: 0, name: 'answered at once', aim: 'at least 2,000 posts/s' },
];

export const posts: readonly Group[] = [webhooks, routes].flatMap((source) => [
  {
    name: source.name.replace(' ', '-'),
    prepare: async (workspace) => ({ rows: CASES.flatMap((asked) => rateRows(workspace, source, asked)) }),
  },
  {
    name: `${source.name.replace(' ', '-')}-loss`,
    prepare: async (workspace) => ({ rows: [lossRow(workspace, source)] }),
  },
]);

function rateRows(
  workspace: Workspace,
  source: Source,
  { delayMs, name, aim }: (typeof CASES)[number],
): readonly Row[] {
  const job = `${source.name}, ${name}` as const;
  return [
    {
      ...{ name: `bare undici: ${job}`, unit: 'posts/s', comparison: { job, role: 'bare path' } },
      measure: () => measureBare(source, delayMs),
    },
    {
      ...{ name: `Postrider: ${job}`, unit: 'posts/s', aim, comparison: { job, role: 'measured' } },
      measure: () => measurePosts(workspace, source, delayMs),
    },
  ];
}

async function measureBare({ body }: Source, delayMs: number): Promise<Measure> {
  await using receiver = await startReceiver({ delayMs, isClosed: true });
  const input: BarePostsInput = {
    ...{ url: receiver.url, body, connections: POST_CONNECTIONS },
    posts: WAITING_POSTS,
  };
  await using program = startModule('posting/bare-program.ts', input);
  return await measureArrival(program.pid, receiver);
}

async function measurePosts(workspace: Workspace, source: Source, delayMs: number): Promise<Measure> {
  await using receiver = await startReceiver({ delayMs, isClosed: true });
  await using started = await source.start(workspace, receiver.url);
  const { daemon } = started.postrider;
  await started.load({ messages: WAITING_POSTS / source.postsPerMessage });
  return await withLoopDelay(daemon, () => measureArrival(daemon.pid, receiver));
}

/** Opens the receiver, and measures from the end of the warm-up until nearly all posts have arrived. */
async function measureArrival(pid: number, receiver: Receiver): Promise<Measure> {
  const arrived = async (count: number) => {
    await poll(`${count} posts`, async () => (await receiver.read()).posts >= count);
    return { ...(await receiver.read()), atMs: Date.now() };
  };
  await receiver.open();
  const first = await arrived(WARM_UP_POSTS);
  let last = first;
  const measure = await observe([pid], WAITING_POSTS - LAST_POSTS - WARM_UP_POSTS, async () => {
    last = await arrived(WAITING_POSTS - LAST_POSTS);
    const cpuMs = last.cpuMs - first.cpuMs;
    return { startedAtMs: first.atMs, endedAtMs: last.atMs, p50Ms: Number.NaN, p99Ms: Number.NaN, cpuMs };
  });
  return { ...measure, figure: ((last.posts - first.posts) * 1_000) / (last.atMs - first.atMs) };
}

function lossRow(workspace: Workspace, source: Source): Row {
  return {
    name: `Postrider: what ${source.work} loses beside ${source.name}, ${LOSS_SECONDS} s`,
    unit: '%',
    aim: 'at most 15 %, oldest under 10 s',
    async measure() {
      const alone = await measureLoad(workspace, source);
      await using receiver = await startReceiver({ delayMs: 0, isClosed: false });
      const beside = await measureLoad(workspace, source, receiver);
      return {
        figure: 100 * (1 - beside.perSecond / alone.perSecond),
        details: {
          'messages/s alone': alone.perSecond,
          'messages/s beside posts': beside.perSecond,
          'posts/s': beside.postsPerSecond,
          'oldest post, ms': beside.oldestMs,
        },
      };
    },
  };
}

type Loaded = { perSecond: number; postsPerSecond: number; oldestMs: number };

/** Loads a new daemon. `oldestMs` is the age of the oldest event, or message, of a post when it arrived. */
async function measureLoad(workspace: Workspace, source: Source, receiver?: Receiver): Promise<Loaded> {
  await using started = await source.start(workspace, receiver?.url);
  await started.load({ messages: LOSS_WARM_UP_MESSAGES });
  const before = await receiver?.read();
  const messages = await started.load({ messages: MAX_MESSAGES, seconds: LOSS_SECONDS });
  const after = await receiver?.read();
  const posts = (after?.posts ?? 0) - (before?.posts ?? 0);
  return {
    perSecond: messages / LOSS_SECONDS,
    postsPerSecond: posts / LOSS_SECONDS,
    oldestMs: after?.oldestMs ?? 0,
  };
}
