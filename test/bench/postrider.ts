/**
 * The daemon as a person starts it (`bin/postrider serve`, default settings), under the same load as the bare path:
 * accepting alone, and all the way to the sink. Its DNS is ours, and its mail goes to 127.0.0.1.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { createLiveSender } from '../support/live-sender.ts';
import type { HttpLoad } from './http-load.ts';
import { RECIPIENT_DIGITS, RECIPIENT_DOMAIN, SENDER_DOMAIN, sampleEmail } from './message.ts';
import { observeAccepting, observeSending, runHttpLoad } from './observe.ts';
import type { Group, Measure } from './row.ts';
import { startSink } from './sink.ts';
import type { Workspace } from './workspace.ts';

const WARM_UP_MESSAGES = 1_000;
const ACCEPTED_MESSAGES = 10_000;
const SENT_MESSAGES = 5_000;
const ACCEPTING_CONNECTIONS = 100;
const SENDING_CONNECTIONS = 20;

const RECIPIENT_ZONE = `
${RECIPIENT_DOMAIN} 300 MX 10 mx.${RECIPIENT_DOMAIN}
mx.${RECIPIENT_DOMAIN} 300 A 127.0.0.1`;

export const postrider: Group = {
  name: 'postrider',
  async prepare(workspace) {
    return {
      rows: [
        {
          name: `Postrider: durable accept by HTTP, ${ACCEPTING_CONNECTIONS} connections`,
          unit: 'msg/s',
          comparison: { job: 'accept', role: 'measured' },
          measure: () => measureAccepting(workspace),
        },
        {
          name: `Postrider: HTTP to sink, RSA-2048, ${SENDING_CONNECTIONS} connections`,
          unit: 'msg/s',
          comparison: { job: 'send', role: 'measured' },
          measure: () => measureSending(workspace),
        },
      ],
    };
  },
};

/** Live mail for a real route, so nothing of accepting is spared; the one delivery it may make never comes to an end,
 * because the server at the far end never greets. */
async function measureAccepting(workspace: Workspace): Promise<Measure> {
  const silent = await startSilentServer();
  const postrider = await startPostrider(workspace, { smtpPort: silent.port, deliveries: 1 });
  const load = (requests: number) => postrider.load(ACCEPTING_CONNECTIONS, requests);
  try {
    await runHttpLoad(load(WARM_UP_MESSAGES));
    return await observeAccepting([postrider.pid], load(ACCEPTED_MESSAGES));
  } catch (error) {
    throw postrider.explain(error);
  } finally {
    await postrider.stop();
    silent.stop();
  }
}

async function measureSending(workspace: Workspace): Promise<Measure> {
  const sink = await startSink(workspace);
  const postrider = await startPostrider(workspace, {
    smtpPort: sink.port,
    deliveries: SENDING_CONNECTIONS,
  });
  const send = (messages: number) =>
    observeSending([postrider.pid], messages, sink, () =>
      runHttpLoad(postrider.load(SENDING_CONNECTIONS, messages)),
    );
  try {
    await send(WARM_UP_MESSAGES);
    return await send(SENT_MESSAGES);
  } catch (error) {
    throw postrider.explain(error);
  } finally {
    await postrider.stop();
    await sink.stop();
  }
}

type Postrider = {
  pid: number;
  load(connections: number, requests: number): HttpLoad;
  /** The error with what the daemon wrote last. */
  explain(error: unknown): Error;
  /** Not by SIGTERM: it would wait for mail that is still on its way. */
  stop(): Promise<void>;
};

async function startPostrider(
  workspace: Workspace,
  { smtpPort, deliveries }: { smtpPort: number; deliveries: number },
): Promise<Postrider> {
  const dns = await startDnsServer(RECIPIENT_ZONE);
  const daemon = await startDaemonProcess({
    dataDir: workspace.newFolder('postrider'),
    env: {
      POSTRIDER_HOSTNAME: 'postrider.test',
      POSTRIDER_DNS_SERVERS: dns.address,
      POSTRIDER_OUTBOUND_SMTP_PORT: String(smtpPort),
      POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
      POSTRIDER_DELIVERY_CONNECTIONS_PER_SITE: String(deliveries),
    },
  });
  const stop = async () => {
    await daemon.kill('SIGKILL');
    await dns.close();
  };
  try {
    const { key } = await createLiveSender(daemon, dns, { domain: SENDER_DOMAIN, otherZone: RECIPIENT_ZONE });
    return {
      pid: daemon.pid,
      load: (connections, requests) => load(daemon, { key, connections, requests }),
      explain: (error) =>
        new Error(`${error}; ${daemon.output().trim().split('\n').at(-1)}`, { cause: error }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function load(
  daemon: DaemonProcess,
  { key, ...size }: { key: string } & Pick<HttpLoad, 'connections' | 'requests'>,
): HttpLoad {
  return {
    ...size,
    port: Number(new URL(daemon.address).port),
    path: '/v1/emails',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(sampleEmail()),
    counter: RECIPIENT_DIGITS,
  };
}

/** Takes connections and says nothing. */
async function startSilentServer(): Promise<{ port: number; stop(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
