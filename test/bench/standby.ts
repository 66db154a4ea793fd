/**
 * Measures the cost of a warm standby: accepting and sending while each second's changes are sent to a store in a folder, beside the same without
 * it, and how old the oldest change is that the store does not have.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { startPostrider } from './daemon.ts';
import { RECIPIENT_DIGITS, sampleEmail } from './message.ts';
import { runPaced } from './paced-load.ts';
import { percentile } from './percentile.ts';
import { measureAccepting, measureSending } from './postrider.ts';
import type { Group, Measure } from './row.ts';
import { startSink } from './sink.ts';
import type { Workspace } from './workspace.ts';

/** Public key of nobody. */
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const EMAILS_PER_SECOND = 500;
const MEASURED_MS = 30_000;
/** Time between two looks at the lag, in milliseconds. */
const LOOK_MS = 250;

export const standby: Group = {
  name: 'standby',
  prepare: async (workspace) => ({
    rows: [
      {
        ...{
          name: 'Postrider: accept',
          unit: 'msg/s',
          comparison: { job: 'accept beside a standby', role: 'peer' },
        },
        measure: () => measureAccepting(workspace, {}),
      },
      {
        ...{ name: 'Postrider: accept, with a standby', unit: 'msg/s', aim: '0.97 x' },
        comparison: { job: 'accept beside a standby', role: 'measured' },
        measure: () => measureAccepting(workspace, { more: toStore(workspace) }),
      },
      {
        ...{
          name: 'Postrider: send',
          unit: 'msg/s',
          comparison: { job: 'send beside a standby', role: 'peer' },
        },
        measure: () => measureSending(workspace, {}),
      },
      {
        ...{ name: 'Postrider: send, with a standby', unit: 'msg/s', aim: '0.97 x' },
        comparison: { job: 'send beside a standby', role: 'measured' },
        measure: () => measureSending(workspace, { more: toStore(workspace) }),
      },
      {
        ...{ name: `Postrider: lag of the standby at ${EMAILS_PER_SECOND} emails/s, p99`, unit: 'ms' },
        aim: '<= 5,000 ms',
        measure: () => measureLag(workspace),
      },
    ],
  }),
};

/** Returns the environment of a daemon that sends its changes to a new folder. */
function toStore(workspace: Workspace): Record<string, string> {
  return {
    POSTRIDER_STANDBY_STORE: pathToFileURL(workspace.newFolder('store')).href,
    POSTRIDER_BACKUP_RECIPIENTS: RECIPIENT,
  };
}

async function measureLag(workspace: Workspace): Promise<Measure> {
  await using sink = await startSink(workspace);
  await using postrider = await startPostrider({
    ...{ dataDir: workspace.newFolder('postrider'), smtpPort: sink.port, more: toStore(workspace) },
  });
  const { daemon, sender } = postrider;
  const until = performance.now() + MEASURED_MS;
  const lags: number[] = [];
  const looking = (async () => {
    while (performance.now() < until) {
      const { body } = await daemon.request('GET', '/metrics', undefined);
      const [, seconds] = /^postrider_standby_lag_seconds (\S+)$/m.exec(String(body)) ?? [];
      lags.push(Number(seconds) * 1_000);
      await delay(LOOK_MS);
    }
  })();
  const [head, tail] = JSON.stringify(sampleEmail()).split(RECIPIENT_DIGITS);
  const load = {
    url: new URL('/v1/emails', daemon.address),
    headers: { authorization: `Bearer ${sender.key}` },
    bodyOf: (index: number) => `${head}${String(index).padStart(RECIPIENT_DIGITS.length, '0')}${tail}`,
    perSecond: EMAILS_PER_SECOND,
  };
  const { requests, refused } = await runPaced(load, () => performance.now() >= until);
  await looking;
  const p99Ms = percentile(lags, 0.99);
  return {
    figure: p99Ms,
    p50Ms: percentile(lags, 0.5),
    p99Ms,
    details: { requests, refused, 'longest, ms': percentile(lags, 1) },
  };
}
