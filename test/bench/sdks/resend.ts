/** Resend's wire: the processor time of a send by it over one by POST /v1/emails. */
import { startPostrider } from '../daemon.ts';
import type { HttpLoad } from '../http-load.ts';
import { sampleEmail } from '../message.ts';
import { runHttpLoad } from '../observe.ts';
import { median } from '../percentile.ts';
import { startSilentServer } from '../postrider.ts';
import { treeCpuMs } from '../process-tree.ts';
import type { Measure, Row } from '../row.ts';
import type { Workspace } from '../workspace.ts';

/** Source: issue 30. */
const MAX_OVERHEAD_US = 100;
const BLOCKS = 9;
const SENDS_OF_A_BLOCK = 1_000;
const WARM_UP_SENDS = 2_000;
const CONNECTIONS = 4;
const US_PER_MS = 1_000;

/** Returns the row. Blocks of sends alternate between the two, so that both see the same machine. */
export function resendRow(workspace: Workspace): Row {
  return {
    name: `Resend's wire: processor time of a send over one by /v1, median of ${BLOCKS} blocks`,
    unit: 'µs',
    aim: `<= ${MAX_OVERHEAD_US} µs`,
    rounds: 1,
    measure: () => measureOverhead(workspace),
  };
}

async function measureOverhead(workspace: Workspace): Promise<Measure> {
  using silent = await startSilentServer();
  const dataDir = workspace.newFolder('resend');
  await using postrider = await startPostrider({ dataDir, smtpPort: silent.port, connectionsPerSite: 1 });
  const { pid } = postrider.daemon;
  const loads = [nativeLoad, resendLoad].map((change) => (requests: number) => ({
    ...postrider.load({ connections: CONNECTIONS, requests }),
    ...change(),
  }));
  const blocks: number[][] = loads.map(() => []);
  for (const load of loads) await runHttpLoad(load(WARM_UP_SENDS));
  for (let block = 0; block < BLOCKS; block++)
    for (const [index, load] of loads.entries()) {
      const run = () => runHttpLoad(load(SENDS_OF_A_BLOCK));
      const before = treeCpuMs([pid]);
      await run();
      blocks[index]?.push(((treeCpuMs([pid]) - before) * US_PER_MS) / SENDS_OF_A_BLOCK);
    }
  const [nativeUs = Number.NaN, resendUs = Number.NaN] = blocks.map(median);
  const details = { 'a send by /v1, µs': nativeUs, "a send by Resend's wire, µs": resendUs };
  return { figure: resendUs - nativeUs, details };
}

type Change = Pick<HttpLoad, 'path' | 'body'>;

function nativeLoad(): Change {
  return { path: '/v1/emails', body: JSON.stringify(email()) };
}

/** The email of the native row as Resend's client sends it. */
function resendLoad(): Change {
  const { replyTo, tags = {}, type: _, ...fields } = email();
  const pairs = Object.entries(tags).map(([name, value]) => ({ name, value }));
  return {
    path: '/compat/resend/emails',
    body: JSON.stringify({ ...fields, reply_to: replyTo, tags: pairs }),
  };
}

function email() {
  return {
    ...sampleEmail(),
    replyTo: 'desk@example.com',
    tags: { kind: 'shipping' } as Record<string, string>,
    type: 'transactional',
  };
}
