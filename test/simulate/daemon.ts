/** Runs of the delivery engine in a simulation: the real code of the queue, started as the daemon does, on the world of the simulation. */
import type { App } from '../../src/app.ts';
import type { BlobContent } from '../../src/blobs/blobs.ts';
import type { Config } from '../../src/config/config.ts';
import type { Write } from '../../src/db/operation.ts';
import { ALONE } from '../../src/queue/dealer.ts';
import { createProbeWork } from '../../src/queue/held/probe.ts';
import { packagedReplies } from '../../src/queue/outcome/replies/replies.ts';
import { createOverdueWork } from '../../src/queue/overdue/sweep.ts';
import type { RuleTable } from '../../src/queue/shaping/rule-table.ts';
import { probeSources } from '../../src/queue/sources/recover.ts';
import { moveQueue } from '../../src/queue/state/recover.ts';
import { waitsTogether } from '../../src/queue/thread/together.ts';
import { createRecoveryWork, recoverQueue, startDelivering } from '../../src/queue/worker.ts';
import { ClockWatch } from '../../src/system/clock-watch.ts';
import type { DialSource } from '../../src/system/dial/source.ts';
import { SourceError } from '../../src/system/dial/source-failure.ts';
import type { Log } from '../../src/system/log.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { createSealer } from '../../src/system/seal.ts';
import { createSystem, type System } from '../../src/system/system.ts';
import { createWakeups } from '../../src/system/wakeups.ts';
import { periodic, type RunningWork, startWork } from '../../src/system/worker.ts';
import { ANY_TARGET } from '../support/any-target.ts';
import { linkPeers } from '../support/linked-peers.ts';
import type { SimulatedDatabase } from './database.ts';
import { Network } from './network.ts';
import type { Observe } from './observation.ts';
import type { Behind } from './planted-writes.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The parts of a machine that outlive the daemon. */
export type Machine = {
  time: VirtualTime;
  database: SimulatedDatabase;
  observe: Observe;
  /** The wall clock: Unix time of the beginning, with all steps of the clock. */
  wall: { startMs: number };
  dns: System['dns'];
  hosts: ConstructorParameters<typeof Network>[1]['hosts'];
  nextId: () => number;
  random: () => number;
  settings: Config;
  /** Number of threads that deliver. A planted fault lets each of them take itself for the only one. */
  threads: number;
  isUndealt: boolean;
  rules: RuleTable;
  fetch: System['fetch'];
  /** Returns true when the machine has an address at present. */
  hasAddress(address: string): boolean;
  /** Planted faults (planted.ts): a write that runs after each commit, and the time after which a failed dial is repeated. */
  afterCommit: Write<Behind, void> | undefined;
  redialMs: number | undefined;
};

/** Time that a daemon has to stop, as in main.ts. */
const DRAIN_MS = 30_000;
const CLOCK_CHECK_MS = 60_000;
const PROBE_SOURCES_MS = 15_000;
/** All messages have the same content, because the envelope says which one it is. */
const CONTENT = Buffer.from('Subject: Hello\r\n\r\nIt works.\r\n');

const METRICS = createMetrics({ now: () => 0, elapsed: () => 0, after: () => ({ cancel() {} }) });
const SEALER = createSealer(Buffer.alloc(32, 7));

/** One run of the daemon. */
export class Daemon {
  readonly #machine: Machine;
  readonly #run: number;
  readonly #network: Network;
  #work: RunningWork[] = [];
  #isDead = false;
  #killDatabase: () => void = () => {};
  #app: App | undefined;

  constructor(machine: Machine, run: number) {
    this.#machine = machine;
    this.#run = run;
    const { time, observe, hosts, nextId, redialMs, hasAddress } = machine;
    this.#network = new Network(time, { observe, hosts, nextId, redialMs, hasAddress });
  }

  /** Starts the run: it puts back what the run before has left, and delivers. */
  async start(): Promise<void> {
    const app = this.#openApp();
    this.#app = app;
    this.#machine.observe({ kind: 'started', run: this.#run });
    await recoverQueue(app);
    if (this.#isDead) return;
    const noReceiver = () => Promise.reject(new Error('no domain of the simulation is received here'));
    const replies = { table: packagedReplies() };
    const { threads, isUndealt, rules } = this.#machine;
    const delivering = linkPeers(threads, app.clock).map((peers) =>
      startDelivering(app, noReceiver, {
        replies,
        rules: { table: rules },
        peers: isUndealt ? ALONE : peers,
      }),
    );
    const explainWaiting = waitsTogether(
      delivering.map((dispatcher) => (queues) => dispatcher.explainWaiting(queues)),
    );
    this.#work = [
      ...delivering,
      startWork(app, createRecoveryWork(app)),
      startWork(app, createProbeWork(app)),
      startWork(app, createOverdueWork({ ...app, replies, explainWaiting })),
      startWork(
        app,
        periodic(app.clock, { name: 'clock', periodMs: CLOCK_CHECK_MS, run: () => followClock(app) }),
      ),
      startWork(
        app,
        periodic(app.clock, {
          name: 'probes of sources',
          periodMs: PROBE_SOURCES_MS,
          run: () => probeSources(app, (_clock, source) => this.#probe(source)),
        }),
      ),
    ];
  }

  /** Tells the daemon that mail was accepted for these queues. */
  wake(queues: readonly string[]): void {
    if (!this.#isDead) this.#app?.wakeups.notify('queue', queues);
  }

  /** Ends the run as a drain does. */
  async stop(): Promise<void> {
    if (this.#isDead) return;
    this.#machine.observe({ kind: 'stopping', run: this.#run });
    await Promise.all(this.#work.map((work) => work.stop(DRAIN_MS)));
    if (this.#isDead) return;
    this.#die();
    this.#machine.observe({ kind: 'stopped', run: this.#run });
  }

  /** Ends the run at once. Nothing of it happens any more, although its promises still exist. */
  kill(): void {
    if (this.#isDead) return;
    this.#die();
    this.#machine.observe({ kind: 'killed', run: this.#run });
  }

  #die(): void {
    this.#isDead = true;
    this.#killDatabase();
    this.#network.die();
  }

  #openApp(): App {
    const { time, database, random, dns, settings, fetch } = this.#machine;
    const bornAt = time.now;
    const clock = {
      now: () => Math.floor(this.#machine.wall.startMs + time.now),
      elapsed: () => time.now - bornAt,
      after: (delayMs: number, run: () => void) => this.#after(delayMs, run),
    };
    const wakeups = createWakeups();
    const runId = `run ${this.#run}`;
    const { afterCommit } = this.#machine;
    const { db, kill } = database.open(wakeups, {
      afterCommit: async () => {
        if (!afterCommit) return;
        await database.commitNow(afterCommit, { now: clock.now(), elapsed: clock.elapsed(), runId });
      },
    });
    this.#killDatabase = kill;
    const system = createSystem(
      { dnsServers: ['127.0.0.1'], allowTargets: [], logLevel: 'silent', crashAt: undefined },
      {
        clock,
        dns,
        wakeups,
        random,
        targets: ANY_TARGET,
        metrics: METRICS,
        log: this.#log(),
        dial: this.#network.dial as unknown as System['dial'],
        fetch,
      },
    );
    const app = {
      ...system,
      config: settings,
      db,
      sealer: SEALER,
      blobs: { open: async () => STORED },
      runId,
      clockWatch: new ClockWatch(clock, clock.now()),
    };
    return app as unknown as App;
  }

  async #probe(source: DialSource): Promise<void> {
    if (source.kind !== 'address' || this.#machine.hasAddress(source.address)) return;
    throw new SourceError('unusable', 'this machine does not have the address of the source');
  }

  #after(delayMs: number, run: () => void): { cancel(): void } {
    if (this.#isDead) return { cancel() {} };
    return this.#machine.time.after(delayMs, () => {
      if (!this.#isDead) run();
    });
  }

  #log(): Log {
    const note =
      (level: 'warn' | 'error' | 'fatal') => (fields: Record<string, unknown>, message: string) => {
        if (this.#isDead) return;
        const { err, ...rest } = fields;
        const details = `${JSON.stringify(rest)} ${err instanceof Error ? err.stack : ''}`;
        this.#machine.observe({ kind: 'logged', level, message, details });
      };
    const log = { debug() {}, info() {}, warn: note('warn'), error: note('error'), fatal: note('fatal') };
    return { ...log, child: () => log } as unknown as Log;
  }
}

async function followClock(app: App): Promise<void> {
  const setBackMs = app.clockWatch.check();
  if (setBackMs === 0) return;
  await moveQueue(app.db, { now: app.clock.now(), setBackMs });
  app.wakeups.notify('queue');
}

const STORED: BlobContent = {
  sizeBytes: CONTENT.length,
  isEightBit: false,
  inline: CONTENT,
  file: undefined,
  head: async (end) => CONTENT.subarray(0, end),
  async *chunks() {
    yield CONTENT;
  },
};
