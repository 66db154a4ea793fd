/**
 * Batches of 100 emails, none of which is delivered: how long one caller waits for each, and how many emails a few callers
 * get accepted in a second.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostrider } from './daemon.ts';
import { withLoopDelay } from './event-loop.ts';
import type { HttpLoad } from './http-load.ts';
import { RECIPIENT_DIGITS, RECIPIENT_DOMAIN, sampleEmail } from './message.ts';
import { observe, runHttpLoad } from './observe.ts';
import { startSilentServer } from './postrider.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

/** Specification 8. */
const BATCH_EMAILS = 100;
const WARM_UP_BATCHES = 20;
const BATCHES_OF_ONE = 60;
const CALLERS = 4;
const BATCHES_OF_MANY = 200;

export const batch: Group = {
  name: 'batch',
  async prepare(workspace) {
    return {
      rows: [
        {
          name: `Postrider: a batch of ${BATCH_EMAILS}, one caller`,
          unit: 'ms',
          aim: 'under 60 ms',
          async measure() {
            const measure = await measureBatches(workspace, { connections: 1, requests: BATCHES_OF_ONE });
            return { ...measure, figure: measure.p50Ms ?? Number.NaN };
          },
        },
        {
          name: `Postrider: batches of ${BATCH_EMAILS}, ${CALLERS} callers`,
          unit: 'msg/s',
          aim: 'at least 2,500 msg/s',
          measure: () => measureBatches(workspace, { connections: CALLERS, requests: BATCHES_OF_MANY }),
        },
      ],
    };
  },
};

/** The one delivery there may be never comes to an end, because the server at the far end never greets. */
async function measureBatches(
  workspace: Workspace,
  size: Pick<HttpLoad, 'connections' | 'requests'>,
): Promise<Measure> {
  using silent = await startSilentServer();
  const dataDir = workspace.newFolder('batch');
  await using postrider = await startPostrider({ dataDir, smtpPort: silent.port, connectionsPerSite: 1 });
  const file = join(dataDir, 'batch.json');
  writeFileSync(file, JSON.stringify({ emails: emails() }));
  const load = (more: typeof size): HttpLoad => ({
    ...postrider.load(more),
    path: '/v1/emails/batch',
    body: { file },
  });
  const { pid } = postrider.daemon;
  await runHttpLoad(load({ ...size, requests: WARM_UP_BATCHES }));
  return await withLoopDelay(postrider.daemon, () =>
    observe([pid], size.requests * BATCH_EMAILS, () => runHttpLoad(load(size))),
  );
}

/** Each to a reader of its own; the last one is counted by the load. */
function emails() {
  return Array.from({ length: BATCH_EMAILS }, (_, index) => {
    const local = index === BATCH_EMAILS - 1 ? `r${RECIPIENT_DIGITS}` : `batch${index}`;
    return { ...sampleEmail(), to: [`${local}@${RECIPIENT_DOMAIN}`] };
  });
}
