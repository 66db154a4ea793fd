/**
 * Clients that create, change and delete everything except single emails, with a ledger of every change that the daemon
 * acknowledged. After a fault the API must show each resource in a version that is at least as new as the acknowledged
 * one, and no newer than the last one that was requested.
 */
import type { DaemonProcess, DaemonResponse } from '../support/daemon.ts';
import { DELETED, KINDS, type Kind, type Step } from './ledger-kinds.ts';
import { asksForRetry, withRetries } from './retries.ts';
import type { SeededRandom } from './seeded-random.ts';

/** One resource. Its versions are 1 (created), 2 (changed) and DELETED. */
type Entry = {
  kind: Kind;
  number: number;
  id: string;
  /** The newest version that was answered with success. */
  acknowledged: number;
  /** The newest version that was requested. */
  attempted: number;
};

/** The versions that were acknowledged at one moment; the entry itself may have changed since. */
export type LedgerSnapshot = readonly { entry: Entry; acknowledged: number }[];

export type LedgerRun = {
  daemon: DaemonProcess;
  key: string;
  /** Ends the run, which waits for the request in flight. */
  signal: AbortSignal;
  /** Maximum number of requests of this run. */
  most: number;
};

/** Share of requests that create a resource; the others change or delete one. */
const CREATION_SHARE = 0.6;
const CLIENTS = 2;

export class Ledger {
  /** Descriptions of answers that must not happen under load. */
  readonly refusals: string[] = [];
  readonly #entries: Entry[] = [];
  readonly #random: SeededRandom;
  readonly #name: string;
  #audienceId: string | undefined;
  #count = 0;
  #emails = 0;

  constructor(random: SeededRandom, name: string) {
    this.#random = random;
    this.#name = name;
  }

  /** Numbers of emails of acknowledged batches, and of unanswered batches that may have been accepted. */
  get emails(): { acknowledged: number; unanswered: number } {
    const batches = this.#entries.filter(({ kind }) => kind.name === 'batch');
    const unanswered = batches.filter(({ acknowledged, attempted }) => acknowledged < attempted);
    return {
      acknowledged: this.#emails,
      unanswered: unanswered.reduce((sum, { kind }) => sum + kind.emails, 0),
    };
  }

  get acknowledged(): number {
    return this.#entries.filter(({ acknowledged }) => acknowledged > 0).length;
  }

  snapshot(): LedgerSnapshot {
    return this.#entries
      .filter(({ acknowledged }) => acknowledged > 0)
      .map((entry) => ({ entry, acknowledged: entry.acknowledged }));
  }

  /** Sends requests until the signal, the limit, or the first request without an answer. */
  async run(run: LedgerRun): Promise<void> {
    this.#audienceId ??= await this.#createAudience(run);
    if (this.#audienceId === undefined) return;
    const last = { left: run.most };
    await Promise.all(Array.from({ length: CLIENTS }, () => this.#client(run, last)));
  }

  /** Compares the resources that the daemon shows with the snapshot; by default with everything acknowledged so far. */
  async faults(daemon: DaemonProcess, key: string, snapshot = this.snapshot()): Promise<string[]> {
    const faults: string[] = [];
    for (const { entry, acknowledged } of snapshot) {
      const { kind, attempted } = entry;
      const shown = await kind.observe(this.#askWith(daemon, key), this.#place(entry));
      if (typeof shown === 'string') faults.push(`${kind.name}: ${shown}`);
      else if (shown < acknowledged) faults.push(`${kind.name}: version ${shown} instead of ${acknowledged}`);
      else if (shown > attempted) faults.push(`${kind.name}: version ${shown}, which nobody asked for`);
    }
    return faults;
  }

  async #createAudience({ daemon, key }: LedgerRun): Promise<string | undefined> {
    try {
      const name = `Audience of ${this.#name}`;
      const { status, body } = await daemon.request('POST', '/v1/audiences', key, { name });
      return status === 201 ? (body as { id: string }).id : undefined;
    } catch {
      return undefined;
    }
  }

  async #client(run: LedgerRun, last: { left: number }): Promise<void> {
    while (!run.signal.aborted && last.left-- > 0) {
      if (!(await this.#step(run))) return;
    }
  }

  /** Makes one request. Returns false when no answer came. */
  async #step({ daemon, key }: LedgerRun): Promise<boolean> {
    const entry = this.#random.share() < CREATION_SHARE ? this.#create() : (this.#choose() ?? this.#create());
    if (!entry) return true;
    const version = nextVersion(entry);
    const step = entry.kind.steps[version];
    if (!step) return true;
    entry.attempted = version;
    try {
      this.#note(entry, version, await this.#ask(daemon, key, step(this.#place(entry))));
      return true;
    } catch {
      return false;
    }
  }

  #note(entry: Entry, version: number, answer: DaemonResponse): void {
    const { status, body } = answer;
    if (status >= 200 && status < 300) {
      entry.acknowledged = version;
      if (version === 1) entry.id = entry.kind.idOf(body);
      if (entry.kind.name === 'batch') this.#emails += entry.kind.emails;
    } else if (asksForRetry(answer)) {
      entry.attempted = entry.acknowledged;
    } else this.refusals.push(`${entry.kind.name} version ${version}: ${status} ${JSON.stringify(body)}`);
  }

  #create(): Entry | undefined {
    const open = KINDS.filter((kind) => this.#entries.filter((one) => one.kind === kind).length < kind.most);
    const kind = open[Math.floor(this.#random.share() * open.length)];
    if (!kind) return undefined;
    this.#count += 1;
    const entry: Entry = { kind, number: this.#count, id: '', acknowledged: 0, attempted: 0 };
    this.#entries.push(entry);
    return entry;
  }

  /** Returns a resource whose last change was answered and that has another change to come. */
  #choose(): Entry | undefined {
    const settled = this.#entries.filter(
      (entry) =>
        entry.acknowledged === entry.attempted &&
        entry.acknowledged !== DELETED &&
        entry.kind.steps[nextVersion(entry)] !== undefined,
    );
    return settled[Math.floor(this.#random.share() * settled.length)];
  }

  #place({ id, number }: Entry) {
    return { id, audienceId: this.#audienceId ?? '', name: `${this.#name}-${number}` };
  }

  #askWith(daemon: DaemonProcess, key: string) {
    return (step: Step) => withRetries(() => this.#ask(daemon, key, step));
  }

  #ask(daemon: DaemonProcess, key: string, { method, path, body, headers }: Step): Promise<DaemonResponse> {
    return daemon.request(method, `/v1${path}`, key, body, headers);
  }
}

function nextVersion({ kind, acknowledged }: Entry): number {
  const next = acknowledged + 1;
  return kind.steps[next] ? next : DELETED;
}
