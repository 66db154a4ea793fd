/**
 * A fault that the daemon must live through: mail is sent before it, while it lasts and after it, again and again in one
 * life of the daemon. While it lasts, a request may be refused with the time to come back, and nothing else; when it is
 * over, everything is accepted and delivered, without a restart.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../support/daemon.ts';
import { finish, repeatUnanswered } from './finish.ts';
import type { Result } from './part.ts';
import { describeReckoning } from './report.ts';
import type { World } from './world.ts';

type FaultCycles = {
  cycles: number;
  /** How long each fault lasts under load. */
  lastsMs: number;
  /** Begins the fault. */
  begin(daemon: DaemonProcess, cycle: number): Promise<void>;
  /** Runs while the fault lasts; what it finds wrong, in words. */
  inspect?(daemon: DaemonProcess, cycle: number): Promise<string[]>;
  /** Ends the fault. */
  end(daemon: DaemonProcess, cycle: number): Promise<void>;
  /** Whether the daemon may fail to answer while it lasts. */
  mayBreakConnections: boolean;
  /** Whether the daemon must refuse something while it lasts: otherwise the fault was not there. */
  mustRefuse: boolean;
};

const CLIENTS = 6;
const PAUSE_MS = 10;
const CALM_SUBMISSIONS = 20;
const MAX_SUBMISSIONS_OF_A_FAULT = 150;
const CALM_CHANGES = 5;
const MAX_CHANGES_OF_A_FAULT = 15;
const RECOVERY_TIMEOUT_MS = 60_000;

export async function runFaultCycles(world: World, fault: FaultCycles): Promise<Result> {
  const daemon = await world.start();
  const faults: string[] = [];
  /** While the faults lasted: answers with 200, refusals, requests without an answer, and mail that arrived. */
  const during = { accepted: 0, refused: 0, gone: 0, arrived: 0 };
  /** The longest time from the end of a fault until everything refused before was accepted. */
  let slowestRecoveryMs = 0;
  for (let cycle = 0; cycle < fault.cycles; cycle++) {
    await sendCalmly(world, daemon);
    const before = figures(world);
    await fault.begin(daemon, cycle);
    faults.push(...(await runDuringFault(world, fault, daemon, cycle)));
    for (const [name, count] of Object.entries(figures(world))) {
      during[name as keyof typeof during] += count - before[name as keyof typeof before];
    }
    await fault.end(daemon, cycle);
    const endedAt = performance.now();
    faults.push(...(await repeatUnanswered(world, daemon, AbortSignal.timeout(RECOVERY_TIMEOUT_MS))));
    slowestRecoveryMs = Math.max(slowestRecoveryMs, performance.now() - endedAt);
    const exit = await Promise.race([daemon.exited, sleep(0)]);
    if (exit)
      throw new Error(`the daemon ended in cycle ${cycle}: ${JSON.stringify(exit)}\n${daemon.output()}`);
  }
  if (fault.mustRefuse && during.refused + during.gone === 0) faults.push('the fault was never felt');
  if (!fault.mayBreakConnections && during.gone > 0) faults.push(`${during.gone} requests without an answer`);
  const { accepted, refused, gone, arrived } = during;
  const reckoned = describeReckoning(await finish(world, daemon));
  return {
    lines: [
      `${fault.cycles} times; slowest recovery: ${Math.round(slowestRecoveryMs)} ms`,
      `while it lasted: accepted ${accepted}, refused ${refused}, without an answer ${gone}, arrived ${arrived}`,
      ...reckoned.lines,
    ],
    faults: [...faults, ...reckoned.faults],
  };
}

function figures({ load, arrived }: World) {
  const { acknowledged, refused, gone } = load;
  return { accepted: acknowledged.length, refused, gone, arrived: arrived() };
}

async function sendCalmly({ load, ledger, key }: World, daemon: DaemonProcess): Promise<void> {
  const { signal } = new AbortController();
  await Promise.all([
    load.run({ daemon, key, clients: CLIENTS, pauseMs: 0, signal, most: CALM_SUBMISSIONS }),
    ledger.run({ daemon, key, signal, most: CALM_CHANGES }),
  ]);
}

/** Load for as long as the fault lasts. */
async function runDuringFault(
  { load, ledger, key }: World,
  fault: FaultCycles,
  daemon: DaemonProcess,
  cycle: number,
): Promise<string[]> {
  const over = new AbortController();
  const most = MAX_SUBMISSIONS_OF_A_FAULT;
  const { signal } = over;
  const running = load.run({
    daemon,
    key,
    clients: CLIENTS,
    pauseMs: PAUSE_MS,
    signal,
    most,
    persistent: true,
  });
  const changing = ledger.run({ daemon, key, signal, most: MAX_CHANGES_OF_A_FAULT });
  try {
    const [faults = []] = await Promise.all([fault.inspect?.(daemon, cycle), sleep(fault.lastsMs)]);
    return faults;
  } finally {
    over.abort();
    await Promise.all([running, changing]);
  }
}
