/** The bare path (bare-path.ts) under the same load as the daemon: accepting alone, and all the way to the sink. */
import { generateKeyPairSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { BarePathInput } from './bare-path.ts';
import type { HttpLoad } from './http-load.ts';
import { RECIPIENT_DIGITS, sampleEmail } from './message.ts';
import { observeAccepting, observeSending, runHttpLoad } from './observe.ts';
import { type Program, startModule } from './program.ts';
import type { Group, Measure } from './row.ts';
import { startSink } from './sink.ts';
import type { Workspace } from './workspace.ts';

const WARM_UP_MESSAGES = 2_000;
const ACCEPTED_MESSAGES = 25_000;
const SENT_MESSAGES = 10_000;
const ACCEPTING_CONNECTIONS = 100;
const SENDING_CONNECTIONS = 20;

export const bare: Group = {
  name: 'bare',
  async prepare(workspace) {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    return {
      rows: [
        {
          name: `bare path: durable accept by HTTP, ${ACCEPTING_CONNECTIONS} connections`,
          unit: 'msg/s',
          comparison: { job: 'accept', role: 'bare path' },
          measure: () => measureAccepting(workspace, privateKey),
        },
        {
          name: `bare path: HTTP to sink, RSA-2048, ${SENDING_CONNECTIONS} connections`,
          unit: 'msg/s',
          comparison: { job: 'send', role: 'bare path' },
          measure: () => measureSending(workspace, privateKey),
        },
      ],
    };
  },
};

async function measureAccepting(workspace: Workspace, privateKey: string): Promise<Measure> {
  await using program = startBarePath(workspace, { privateKey, sinkPort: undefined });
  const port = Number(await program.line());
  await runHttpLoad(load(port, ACCEPTING_CONNECTIONS, WARM_UP_MESSAGES));
  return await observeAccepting([program.pid], load(port, ACCEPTING_CONNECTIONS, ACCEPTED_MESSAGES));
}

async function measureSending(workspace: Workspace, privateKey: string): Promise<Measure> {
  await using sink = await startSink(workspace);
  await using program = startBarePath(workspace, { privateKey, sinkPort: sink.port });
  const port = Number(await program.line());
  const send = (messages: number) =>
    observeSending([program.pid], messages, sink, () =>
      runHttpLoad(load(port, SENDING_CONNECTIONS, messages)),
    );
  await send(WARM_UP_MESSAGES);
  return await send(SENT_MESSAGES);
}

function startBarePath(
  workspace: Workspace,
  options: Pick<BarePathInput, 'privateKey' | 'sinkPort'>,
): Program {
  const input: BarePathInput = {
    ...options,
    folder: workspace.newFolder('bare-path'),
    connections: SENDING_CONNECTIONS,
  };
  return startModule('bare-path.ts', input, {
    UV_THREADPOOL_SIZE: String(availableParallelism() + 2),
  });
}

function load(port: number, connections: number, requests: number): HttpLoad {
  return {
    port,
    path: '/',
    headers: {},
    body: JSON.stringify(sampleEmail()),
    counter: RECIPIENT_DIGITS,
    connections,
    requests,
  };
}
