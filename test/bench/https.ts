/** HTTPS: accepting over kept connections, beside the same without TLS, and requests during a flood of new connections. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/loopback.ts';
import { EC_PAIR } from '../system/certificate-pairs.ts';
import { HOSTNAME, type Postrider, startPostrider } from './daemon.ts';
import { withLoopDelay } from './event-loop.ts';
import type { HttpLoad } from './http-load.ts';
import { observeAccepting, runHttpLoad } from './observe.ts';
import { startSilentServer } from './postrider.ts';
import { runModule } from './program.ts';
import type { Group, Measure } from './row.ts';
import type { TlsFloodResult } from './tls-flood-program.ts';
import type { Workspace } from './workspace.ts';

const CONNECTIONS = 100;
const WARM_UP_MESSAGES = 1_000;
const MESSAGES = 10_000;
const FLOOD_PER_SECOND = 1_000;
const FLOOD_SECONDS = 10;
/** Connections of the client that is measured during the flood. */
const HONEST_CONNECTIONS = 4;
/** More than it can send during the flood. */
const HONEST_REQUESTS = 1_000_000;

export const https: Group = {
  name: 'https',
  prepare: async (workspace) => ({
    rows: [
      {
        ...{ name: `accept without TLS, ${CONNECTIONS} kept connections`, unit: 'msg/s' },
        measure: () => measureAccepting(workspace, { isTls: false }),
      },
      {
        ...{ name: `accept by HTTPS, ${CONNECTIONS} kept connections`, unit: 'msg/s' },
        aim: 'at least 0.85 of the same without TLS',
        measure: () => measureAccepting(workspace, { isTls: true }),
      },
      {
        ...{
          name: `accept by HTTPS during ${FLOOD_PER_SECOND} new TLS connections a second, p99`,
          unit: 'ms',
        },
        aim: 'under 100 ms',
        measure: () => measureFlood(workspace),
      },
    ],
  }),
};

type Server = AsyncDisposable & { postrider: Postrider; httpsPort: number };

async function start(workspace: Workspace): Promise<Server> {
  const silent = await startSilentServer();
  const dataDir = workspace.newFolder('https');
  const [configFile, certificate, key] = ['config.yaml', 'chain.pem', 'key.pem'].map((name) =>
    join(dataDir, name),
  );
  if (configFile === undefined || certificate === undefined || key === undefined)
    throw new Error('no folder');
  writeFileSync(certificate, EC_PAIR.chain);
  writeFileSync(key, EC_PAIR.key);
  writeFileSync(
    configFile,
    JSON.stringify({ hostname: HOSTNAME, tls: { certificates: [{ certificate, key }] } }),
  );
  const httpsPort = await freePort();
  const settings = { dataDir, smtpPort: silent.port, connectionsPerSite: 1 };
  const postrider = await startPostrider({ ...settings, https: { port: httpsPort }, configFile });
  return {
    postrider,
    httpsPort,
    async [Symbol.asyncDispose]() {
      await postrider[Symbol.asyncDispose]();
      silent[Symbol.dispose]();
    },
  };
}

function loadOf(
  { postrider, httpsPort }: Server,
  isTls: boolean,
  size: Pick<HttpLoad, 'connections' | 'requests'>,
): HttpLoad {
  const load = postrider.load(size);
  if (!isTls) return load;
  return { ...load, port: httpsPort, serverName: HOSTNAME, headers: { ...load.headers, host: HOSTNAME } };
}

async function measureAccepting(workspace: Workspace, { isTls }: { isTls: boolean }): Promise<Measure> {
  await using server = await start(workspace);
  const { daemon } = server.postrider;
  const load = (requests: number) => loadOf(server, isTls, { connections: CONNECTIONS, requests });
  await runHttpLoad(load(WARM_UP_MESSAGES));
  return await withLoopDelay(daemon, () => observeAccepting([daemon.pid], load(MESSAGES)));
}

async function measureFlood(workspace: Workspace): Promise<Measure> {
  await using server = await start(workspace);
  const size = { connections: HONEST_CONNECTIONS, requests: HONEST_REQUESTS };
  await runHttpLoad(loadOf(server, true, { ...size, requests: WARM_UP_MESSAGES }));
  const flood = runModule<TlsFloodResult>('tls-flood-program.ts', {
    ...{ port: server.httpsPort, serverName: HOSTNAME },
    ...{ perSecond: FLOOD_PER_SECOND, seconds: FLOOD_SECONDS },
  });
  const { p50Ms, p99Ms } = await runHttpLoad({ ...loadOf(server, true, size), seconds: FLOOD_SECONDS });
  const { served, refused } = await flood;
  return {
    ...{ figure: p99Ms, p50Ms, p99Ms },
    details: {
      'connections/s served': served / FLOOD_SECONDS,
      'connections/s refused': refused / FLOOD_SECONDS,
    },
  };
}
