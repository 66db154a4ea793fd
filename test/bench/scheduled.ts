/**
 * A spool that holds a great many scheduled emails: how long the daemon takes to serve, what it holds in memory, and how
 * late the few that are due leave. The spool is filled once and used by every round.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { DaemonProcess } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { type SinkMessage, type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { ask, type Directory, environment, makeDirectory, startTimed } from './daemon.ts';
import { withLoopDelay } from './event-loop.ts';
import { RECIPIENT_DOMAIN, SENDER } from './message.ts';
import { percentile } from './percentile.ts';
import { treeMemory } from './process-tree.ts';
import { startModule, until } from './program.ts';
import type { Group, Measure } from './row.ts';
import type { SpoolInput } from './spool-program.ts';
import type { Workspace } from './workspace.ts';

const SCHEDULED_EMAILS = 200_000;
const DOMAINS = 1_000;
const DUE_EMAILS = 20;
/** Anything due within ten seconds leaves at once; two more to hand all of them in. */
const DUE_IN_MS = 12_000;
const DUE_EVERY_MS = 100;
const DELIVERY_TIMEOUT_MS = 30_000;

export const scheduled: Group = {
  name: 'scheduled',
  async prepare(workspace) {
    let spool: Promise<Directory> | undefined;
    return {
      rows: [
        {
          name: `Postrider: latest of ${DUE_EMAILS} due, ${SCHEDULED_EMAILS.toLocaleString('en')} scheduled`,
          unit: 'ms',
          async measure() {
            spool ??= fillSpool(workspace);
            return measureLateness(await spool);
          },
        },
      ],
    };
  },
};

async function fillSpool(workspace: Workspace): Promise<Directory> {
  const directory = await makeDirectory(workspace, 'spool');
  const { dataDir, dns, tenantId } = directory;
  const input: SpoolInput = {
    env: { ...environment(dns, { dataDir, smtpPort: await freePort() }), POSTRIDER_DATA_DIR: dataDir },
    caller: {
      tenantId,
      mode: 'live',
      keyId: 'key_bench',
      personId: null,
      domainId: null,
      mailboxId: null,
      approval: null,
    },
    from: SENDER,
    emails: SCHEDULED_EMAILS,
    domains: DOMAINS,
  };
  const program = startModule('spool-program.ts', input);
  console.error(`the spool: ${await program.line()}`);
  await program.ended;
  return directory;
}

async function measureLateness(spool: Directory): Promise<Measure> {
  await using sink = await startSmtpSink();
  const { daemon, startMs } = await startTimed(spool, sink.port);
  try {
    return await withLoopDelay(daemon, async () => {
      const atOnce = await sendAtOnce(daemon, spool, sink);
      const lateness = await sendScheduled(daemon, spool, sink);
      return {
        figure: percentile(lateness, 1),
        p50Ms: percentile(lateness, 0.5),
        p99Ms: percentile(lateness, 0.99),
        memory: treeMemory([daemon.pid]),
        details: { 'start to serving, ms': startMs, 'not scheduled: request to sink, ms': atOnce },
      };
    });
  } finally {
    // Nothing is on its way, and the next round must not find mail to recover.
    await daemon.stop().catch(() => daemon.kill('SIGKILL'));
  }
}

async function sendAtOnce(daemon: DaemonProcess, spool: Directory, sink: SmtpSink): Promise<number> {
  const sentAtMs = Date.now();
  const name = `at-once-${sentAtMs}`;
  await send(daemon, spool, name, undefined);
  return (await arrival(sink, name)) - sentAtMs;
}

/** Milliseconds from its time to its final dot, of each. The first one finds no open connection, and the sink greets a
 * new one only after a tenth of a second. */
async function sendScheduled(daemon: DaemonProcess, spool: Directory, sink: SmtpSink): Promise<number[]> {
  const firstMs = Date.now() + DUE_IN_MS;
  const due = Array.from({ length: DUE_EMAILS }, (_, index) => ({
    name: `due-${firstMs}-${index}`,
    atMs: firstMs + index * DUE_EVERY_MS,
  }));
  await Promise.all(due.map(({ name, atMs }) => send(daemon, spool, name, atMs)));
  await delay(firstMs - Date.now());
  const arrivals = await Promise.all(due.map(({ name }) => arrival(sink, name)));
  const lateness = due.map(({ atMs }, index) => (arrivals[index] ?? Number.NaN) - atMs);
  if (Math.min(...lateness) < 0) throw new Error(`a scheduled email left early: ${lateness}`);
  return lateness;
}

async function send(
  daemon: DaemonProcess,
  { key }: Directory,
  name: string,
  atMs: number | undefined,
): Promise<void> {
  await ask(daemon, ['POST', '/v1/emails', key], {
    from: SENDER,
    to: addressOf(name),
    subject: 'Your reminder',
    text: 'It is time.',
    type: 'transactional',
    ...(atMs === undefined ? {} : { scheduledAt: new Date(atMs).toISOString() }),
  });
}

async function arrival(sink: SmtpSink, name: string): Promise<number> {
  let found: SinkMessage | undefined;
  await until(`${name} arrives`, DELIVERY_TIMEOUT_MS, () => {
    found = sink.messages.find(({ recipients }) => recipients.includes(addressOf(name)));
    return found !== undefined;
  });
  return found?.receivedAtMs ?? Number.NaN;
}

function addressOf(name: string): string {
  return `${name}@${RECIPIENT_DOMAIN}`;
}
