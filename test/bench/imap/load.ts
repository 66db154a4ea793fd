/**
 * Delays of people who only read their mail while other mailboxes cause a load: a search in a large mailbox, four clients that fetch
 * all of it, and 5,000 clients that connect again at the same time, as after a restart. The clients of the load have a lower
 * priority than everything else, because in practice they have processors of their own.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { withLoopDelay } from '../event-loop.ts';
import { percentile } from '../percentile.ts';
import { runModule } from '../program.ts';
import type { Group, LoopDelay, Measure } from '../row.ts';
import { ImapConnection } from './client.ts';
import type { ImapLoad, ImapLoadResult } from './load-program.ts';
import { sampleMessages } from './messages.ts';
import { type PostriderImap, startPostriderImap } from './postrider-server.ts';
import { fillSystem } from './system.ts';

/** The first user has the large mailbox; the others only read. */
const READERS = 3;
const MESSAGES_OF_READERS = 100;
const LOAD: Omit<ImapLoad, 'port' | 'user'> = {
  downloads: 4,
  reconnects: 5_000,
  connectingAtOnce: 500,
  addresses: 50,
};
/** Pause of a reader between two commands. */
const READING_PAUSE_MS = 20;
const READING = 'FETCH 1:50 (FLAGS ENVELOPE)';

type LoadedRun = { fetch: Measure; loop: LoopDelay; result: ImapLoadResult };

/** Returns the group for a large mailbox of this size. */
export function imapLoad(messages: number): Group {
  return {
    name: 'imap-load',
    async prepare(workspace) {
      let running: Promise<LoadedRun> | undefined;
      const run = () => {
        running ??= startPostriderImap(workspace, 1 + READERS).then((server) => runLoad(server, messages));
        return running;
      };
      const common = { unit: 'ms', rounds: 1 } as const;
      const when = `during SEARCH in ${messages.toLocaleString('en')} messages, 4 downloads, 5,000 reconnects`;
      return {
        rows: [
          {
            ...{ ...common, name: `Postrider: FETCH of other accounts ${when}, p99`, aim: '< 50 ms' },
            measure: async () => (await run()).fetch,
          },
          {
            ...{ ...common, name: `Postrider: the API loop ${when}, p99`, aim: '< 20 ms' },
            measure: async () => {
              const { loop, result } = await run();
              return { figure: loop.p99Ms, loop, details: { ...result } };
            },
          },
        ],
      };
    },
  };
}

async function runLoad(server: PostriderImap, messages: number): Promise<LoadedRun> {
  const { port, users, daemon } = server;
  const [owner, ...readers] = users;
  if (!owner) throw new Error('the server has no users');
  await fillSystem(server, messages);
  const connections = await Promise.all(readers.map((reader) => ImapConnection.login(port, reader)));
  await Promise.all(connections.map(prepareReader));
  try {
    let result: ImapLoadResult | undefined;
    const times: number[] = [];
    const loaded = await withLoopDelay(daemon, async () => {
      const loading = runModule<ImapLoadResult>('imap/load-program.ts', { ...LOAD, port, user: owner });
      const reading = connections.map((connection) => read(connection, times, () => result));
      await Promise.all([loading.then((answer) => (result = answer)), ...reading]);
      const of = (share: number) => percentile(times, share);
      return { figure: of(0.99), p50Ms: of(0.5), p99Ms: of(0.99), details: { 'longest, ms': of(1) } };
    });
    if (!result || !loaded.loop) throw new Error('the load has no result, or the daemon no metrics');
    return { fetch: loaded, loop: loaded.loop, result };
  } finally {
    for (const connection of connections) connection.close();
    await server[Symbol.asyncDispose]();
  }
}

async function prepareReader(connection: ImapConnection): Promise<void> {
  await connection.append('INBOX', sampleMessages(MESSAGES_OF_READERS));
  await connection.run('SELECT INBOX');
}

/** Reads until the load has a result. */
async function read(connection: ImapConnection, times: number[], isDone: () => unknown): Promise<void> {
  while (!isDone()) {
    times.push((await connection.run(READING)).ms);
    await delay(READING_PAUSE_MS);
  }
}
