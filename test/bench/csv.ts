/** 100,000 contacts taken in from one file through the API, and written into one again. */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { ask } from './daemon.ts';
import { withLoopDelay } from './event-loop.ts';
import { treeMemory, watchMemory } from './process-tree.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const CONTACTS = 100_000;
const LOOK_EVERY_MS = 50;
const TIMEOUT_MS = 120_000;
/** The first requests load code. */
const WARM_UP_MS = 2_000;

export const csv: Group = {
  name: 'csv',
  async prepare(workspace) {
    let file: Buffer | undefined;
    return {
      rows: [
        {
          name: `Postrider: import of ${CONTACTS} contacts, upload to completed`,
          unit: 'ms',
          aim: 'under 30,000 ms',
          measure() {
            file ??= contactsFile();
            return measureImport(workspace, file);
          },
        },
      ],
    };
  },
};

function contactsFile(): Buffer {
  const rows = Array.from(
    { length: CONTACTS },
    (_, index) =>
      `reader.${index}@customers.example,First${index},"Last, ${index}",no,pro,${index % 97},true\r\n`,
  );
  return Buffer.from(`email,first name,last name,unsubscribed,plan,seats,trial\r\n${rows.join('')}`);
}

type Job = {
  id: string;
  status: string;
  error: string | null;
  rows: number;
  created: number;
  sizeBytes: number;
};

async function measureImport(workspace: Workspace, file: Buffer): Promise<Measure> {
  const daemon = await startDaemonProcess({
    dataDir: workspace.newFolder('postrider'),
    env: { POSTRIDER_HOSTNAME: 'postrider.test', POSTRIDER_HTTP_METRICS: 'true' },
  });
  await using _ending = { [Symbol.asyncDispose]: () => daemon.kill('SIGKILL') };
  const audience = await ask<{ id: string }>(daemon, ['POST', '/v1/audiences', daemon.testKey], {
    name: 'Customers',
  });
  const contacts = `/v1/audiences/${audience.id}/contacts`;
  await delay(WARM_UP_MS);
  using memory = watchMemory(daemon.pid);
  return await withLoopDelay(daemon, async () => {
    const startedMs = performance.now();
    const sent = await upload(daemon, `${contacts}/imports`, file);
    const answeredMs = performance.now();
    const job = await ended(daemon, 'imports', sent.id);
    const completedMs = performance.now();
    if (job.created !== CONTACTS) throw new Error(`the import ended with ${JSON.stringify(job)}`);
    const growthMiB = memory.growthMiB();
    const exported = await ask<Job>(daemon, ['POST', `${contacts}/exports`, daemon.testKey], {});
    const { rows } = await ended(daemon, 'exports', exported.id);
    if (rows !== CONTACTS) throw new Error(`the export has ${rows} rows`);
    return {
      figure: completedMs - startedMs,
      memory: treeMemory([daemon.pid]),
      details: {
        'upload answered after, ms': answeredMs - startedMs,
        'file, MiB': file.length / 2 ** 20,
        'growth of RSS at its peak, MiB': growthMiB,
        'export of them, ms': performance.now() - completedMs,
      },
    };
  });
}

async function upload(daemon: DaemonProcess, path: string, file: Buffer): Promise<Job> {
  const { statusCode, body } = await request(`${daemon.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.testKey}`, 'content-type': 'text/csv' },
    body: file,
  });
  const answer = await body.text();
  if (statusCode !== 202) throw new Error(`the file was answered ${statusCode} ${answer}`);
  return JSON.parse(answer) as Job;
}

async function ended(daemon: DaemonProcess, kind: 'imports' | 'exports', id: string): Promise<Job> {
  const giveUpMs = performance.now() + TIMEOUT_MS;
  while (performance.now() < giveUpMs) {
    const job = await ask<Job>(daemon, ['GET', `/v1/${kind}/${id}`, daemon.testKey]);
    if (job.status === 'completed') return job;
    if (job.status === 'failed') throw new Error(`${id} failed: ${job.error}`);
    await delay(LOOK_EVERY_MS);
  }
  throw new Error(`${id} has not ended within ${TIMEOUT_MS} ms`);
}
