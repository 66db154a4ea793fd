/**
 * Many sites at a time, each a round trip of 20 ms away: what the others lose when one of them takes ten seconds for each reply. The
 * daemon has fewer connections than the sites would take.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostrider } from './daemon.ts';
import type { HttpLoad } from './http-load.ts';
import { RECIPIENT_DIGITS, sampleEmail } from './message.ts';
import { observeSending, runHttpLoad } from './observe.ts';
import type { Group, Measure } from './row.ts';
import { startSink } from './sink.ts';
import type { Workspace } from './workspace.ts';

const SITES = 50;
const ROUND_TRIP_MS = 20;
const TAR_PIT_MS = 10_000;
/** Each batch has a message for each site. */
const WARM_UP_BATCHES = 200;
const BATCHES = 150;
const CALLERS = 4;
const BATCH_PATH = '/v1/emails/batch';

export const sites: Group = {
  name: 'sites',
  prepare: async (workspace) => ({
    rows: [
      {
        ...{ name: `send to ${SITES - 1} of ${SITES} sites at ${ROUND_TRIP_MS} ms`, unit: 'msg/s' },
        measure: () => measure(workspace, { isTarPit: false }),
      },
      {
        ...{ name: 'the same while the last site is a tar pit', unit: 'msg/s' },
        aim: 'at least 0.95 of the row before',
        measure: () => measure(workspace, { isTarPit: true }),
      },
    ],
  }),
};

async function measure(workspace: Workspace, { isTarPit }: { isTarPit: boolean }): Promise<Measure> {
  const dataDir = workspace.newFolder('sites');
  const last = addressOf(SITES - 1);
  await using sink = await startSink(workspace, {
    addresses: Array.from({ length: SITES }, (_, site) => addressOf(site)),
    delayMs: ROUND_TRIP_MS,
    slow: { address: last, delayMs: isTarPit ? TAR_PIT_MS : ROUND_TRIP_MS },
  });
  await using postrider = await startPostrider({ dataDir, smtpPort: sink.port, zone: zoneText() });
  const file = join(dataDir, 'batch.json');
  writeFileSync(file, JSON.stringify({ emails: Array.from({ length: SITES }, (_, site) => emailTo(site)) }));
  const send = (batches: number) => {
    const load: HttpLoad = {
      ...postrider.load({ connections: CALLERS, requests: batches }),
      ...{ path: BATCH_PATH, body: { file }, counter: RECIPIENT_DIGITS },
    };
    return observeSending([postrider.daemon.pid], batches * (SITES - 1), sink, () => runHttpLoad(load));
  };
  await send(WARM_UP_BATCHES);
  return await send(BATCHES);
}

const domainOf = (site: number) => `site${site}.test`;
const addressOf = (site: number) => `127.0.1.${site + 1}`;

function emailTo(site: number) {
  return { ...sampleEmail(), to: [`r${RECIPIENT_DIGITS}@${domainOf(site)}`] };
}

function zoneText(): string {
  return Array.from({ length: SITES }, (_, site) => {
    const domain = domainOf(site);
    return `${domain} 300 MX 10 mx.${domain}\nmx.${domain} 300 A ${addressOf(site)}`;
  }).join('\n');
}
