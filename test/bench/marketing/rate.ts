/** Sending a whole broadcast, personalised and signed, next to the bare path with messages of the same size. */
import { generateKeyPairSync } from 'node:crypto';
import { globSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { BarePathInput } from '../bare-path.ts';
import { withLoopDelay } from '../event-loop.ts';
import type { HttpLoad } from '../http-load.ts';
import { RECIPIENT_DIGITS } from '../message.ts';
import { observe, observeSending, runHttpLoad } from '../observe.ts';
import { startModule, until } from '../program.ts';
import type { Measure } from '../row.ts';
import { startSink } from '../sink.ts';
import type { Workspace } from '../workspace.ts';
import { emailOfCopySize } from './content.ts';
import { CONNECTIONS, type Filled, untilCounts, withNewsroom } from './newsroom.ts';

const SEND_TIMEOUT_MS = 15 * 60_000;
const END_TIMEOUT_MS = 60_000;

export async function measureRate(
  workspace: Workspace,
  filled: Filled,
  { contacts }: { contacts: number },
): Promise<Measure> {
  await using sink = await startSink(workspace);
  const { many: tenant } = filled;
  return await withNewsroom(workspace, filled, { smtpPort: sink.port }, async (newsroom) => {
    const { daemon } = newsroom;
    const beforeBytes = databaseBytes(daemon.dataDir);
    let id = '';
    const measured = await withLoopDelay(daemon, () =>
      observe([daemon.pid], contacts, async () => {
        const startedAtMs = Date.now();
        id = await newsroom.send(tenant);
        await until('all copies are delivered', SEND_TIMEOUT_MS, () => sink.messages() >= contacts);
        return { startedAtMs, endedAtMs: Date.now(), p50Ms: Number.NaN, p99Ms: Number.NaN, cpuMs: 0 };
      }),
    );
    const end = { tenant, id, timeoutMs: END_TIMEOUT_MS };
    await untilCounts(newsroom, end, ({ delivered }, status) => status === 'sent' && delivered === contacts);
    // The end copies the write-ahead log back, which would otherwise count twice.
    await daemon.stop();
    const bytes = databaseBytes(daemon.dataDir) - beforeBytes;
    return { ...measured, details: { 'bytes on disk a contact': bytes / contacts } };
  });
}

function databaseBytes(dataDir: string): number {
  const files = ['postrider.db', 'postrider.db-wal', 'blobs/**/*'].flatMap((name) =>
    globSync(join(dataDir, name)),
  );
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

export async function measureBareRate(
  workspace: Workspace,
  { messages }: { messages: number },
): Promise<Measure> {
  await using sink = await startSink(workspace);
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const folder = workspace.newFolder('bare-path');
  const input: BarePathInput = { folder, privateKey, sinkPort: sink.port, connections: CONNECTIONS };
  await using program = startModule('bare-path.ts', input, {
    UV_THREADPOOL_SIZE: String(availableParallelism() + 2),
  });
  const load: HttpLoad = {
    port: Number(await program.line()),
    path: '/',
    headers: {},
    body: JSON.stringify(emailOfCopySize()),
    counter: RECIPIENT_DIGITS,
    connections: CONNECTIONS,
    requests: messages,
  };
  return await observeSending([program.pid], messages, sink, () => runHttpLoad(load));
}
