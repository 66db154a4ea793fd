/**
 * Sending over STARTTLS, beside the same without TLS: on connections that are kept, where a session is negotiated once, and with one
 * message in each connection, where each resumes the session before. Both send to a sink of ours, because smtp-sink has no TLS.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EC_PAIR } from '../system/certificate-pairs.ts';
import { HOSTNAME, startPostrider } from './daemon.ts';
import { RECIPIENT_DOMAIN } from './message.ts';
import { observeSending, runHttpLoad, withThreads } from './observe.ts';
import type { Group, Measure, Row } from './row.ts';
import { startSink } from './sink.ts';
import type { Workspace } from './workspace.ts';

const CONNECTIONS = 20;
/** Half as many as before the rows that send to smtp-sink (postrider.ts), since each takes twice as long here. */
const WARM_UP_MESSAGES = 6_000;
const MESSAGES = 5_000;

type Way = { isTls: boolean; isKept: boolean };

export const starttls: Group = {
  name: 'starttls',
  prepare: async (workspace) => ({
    rows: [
      rowOf(workspace, { isTls: false, isKept: true }),
      rowOf(workspace, { isTls: true, isKept: true }, 'at least 0.85 of the same without TLS'),
      rowOf(workspace, { isTls: false, isKept: false }),
      rowOf(
        workspace,
        { isTls: true, isKept: false },
        'under 1 ms of CPU more for each message than without TLS',
      ),
    ],
  }),
};

function rowOf(workspace: Workspace, way: Way, aim?: string): Row {
  const name = `send ${way.isTls ? 'over STARTTLS' : 'without TLS'}, ${way.isKept ? 'kept connections' : 'a connection for each message'}`;
  return { name, unit: 'msg/s', ...(aim && { aim }), measure: () => measure(workspace, way) };
}

async function measure(workspace: Workspace, { isTls, isKept }: Way): Promise<Measure> {
  const dataDir = workspace.newFolder('starttls');
  await using sink = await startSink(workspace, isTls ? { tls: EC_PAIR } : {});
  await using postrider = await startPostrider({
    dataDir,
    smtpPort: sink.port,
    connectionsPerSite: CONNECTIONS,
    ...(!isKept && { configFile: writeConfig(dataDir) }),
  });
  const { daemon } = postrider;
  const send = (requests: number) =>
    observeSending([daemon.pid], requests, sink, () =>
      runHttpLoad(postrider.load({ connections: CONNECTIONS, requests })),
    );
  await send(WARM_UP_MESSAGES);
  return await withThreads(daemon.pid, MESSAGES, () => send(MESSAGES));
}

function writeConfig(dataDir: string): string {
  const file = join(dataDir, 'config.yaml');
  const limits = [{ host: `mx.${RECIPIENT_DOMAIN}`, messagesPerConnection: 1 }];
  writeFileSync(file, JSON.stringify({ hostname: HOSTNAME, delivery: { limits } }));
  return file;
}
