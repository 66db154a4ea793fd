/**
 * Measures the daemon as a person starts it (`bin/postrider serve`, default settings) under the same load as the bare
 * path: accepting alone, and delivery to the sink. Each is also measured without the mail log, which shows the cost of
 * the log; its lines go to a file. The bench answers DNS, and all mail goes to 127.0.0.1.
 */
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '../support/loopback.ts';
import { type Settings, startPostrider } from './daemon.ts';
import { withLoopDelay } from './event-loop.ts';
import { observeAccepting, observeSending, runHttpLoad, withThreads } from './observe.ts';
import type { Group, Measure } from './row.ts';
import { startSink } from './sink.ts';
import type { Workspace } from './workspace.ts';

/** V8 goes on compiling the functions of the daemon for about so many messages, which took a twelfth of the processor time of the next 5,000. */
const WARM_UP_MESSAGES = 12_000;
const ACCEPTED_MESSAGES = 10_000;
const SENT_MESSAGES = 5_000;
const ACCEPTING_CONNECTIONS = 100;
const SENDING_CONNECTIONS = 20;

export const postrider: Group = {
  name: 'postrider',
  async prepare(workspace) {
    const accept = `Postrider: durable accept by HTTP, ${ACCEPTING_CONNECTIONS} connections`;
    const send = `Postrider: HTTP to sink, RSA-2048, ${SENDING_CONNECTIONS} connections`;
    return {
      rows: [
        {
          ...{ name: accept, unit: 'msg/s', comparison: { job: 'accept', role: 'measured' } },
          measure: () => measureAccepting(workspace, { mailLog: true }),
        },
        {
          ...{ name: `${accept}, no mail log`, unit: 'msg/s' },
          measure: () => measureAccepting(workspace, { mailLog: false }),
        },
        {
          ...{ name: send, unit: 'msg/s', comparison: { job: 'send', role: 'measured' } },
          measure: () => measureSending(workspace, { mailLog: true }),
        },
        {
          ...{ name: `${send}, no mail log`, unit: 'msg/s' },
          measure: () => measureSending(workspace, { mailLog: false }),
        },
      ],
    };
  },
};

type Setup = Pick<Settings, 'mailLog' | 'more'>;

/** Live mail for a real route, so nothing of accepting is spared; the one delivery it may make never comes to an end,
 * because the server at the far end never greets. */
export async function measureAccepting(workspace: Workspace, setup: Setup): Promise<Measure> {
  using silent = await startSilentServer();
  const dataDir = workspace.newFolder('postrider');
  await using postrider = await startPostrider({
    dataDir,
    smtpPort: silent.port,
    connectionsPerSite: 1,
    ...setup,
  });
  const load = (requests: number) => postrider.load({ connections: ACCEPTING_CONNECTIONS, requests });
  await runHttpLoad(load(WARM_UP_MESSAGES));
  const { daemon } = postrider;
  return await withLoopDelay(daemon, () =>
    withThreads(daemon.pid, ACCEPTED_MESSAGES, () => observeAccepting([daemon.pid], load(ACCEPTED_MESSAGES))),
  );
}

/** A place begins with few connections and gets one more after each round of deliveries: the warm-up is long enough. */
export async function measureSending(workspace: Workspace, setup: Setup): Promise<Measure> {
  await using sink = await startSink(workspace);
  await using postrider = await startPostrider({
    dataDir: workspace.newFolder('postrider'),
    smtpPort: sink.port,
    connectionsPerSite: SENDING_CONNECTIONS,
    ...setup,
  });
  const send = (requests: number) =>
    observeSending([postrider.daemon.pid], requests, sink, () =>
      runHttpLoad(postrider.load({ connections: SENDING_CONNECTIONS, requests })),
    );
  await send(WARM_UP_MESSAGES);
  const { daemon } = postrider;
  return await withLoopDelay(daemon, () => withThreads(daemon.pid, SENT_MESSAGES, () => send(SENT_MESSAGES)));
}

/** Takes connections and says nothing. */
export async function startSilentServer(): Promise<{ port: number } & Disposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  });
  return {
    port: await listenOnLoopback(server),
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
