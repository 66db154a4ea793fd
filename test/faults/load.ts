/**
 * Clients that send email as fast as they are answered, and a record of every promise the daemon made them. A request
 * that got no answer is kept and sent again with the same Idempotency-Key, as the API asks of its callers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess, DaemonResponse } from '../support/daemon.ts';
import type { SeededRandom } from './seeded-random.ts';

export type Submission = {
  idempotencyKey: string;
  /** One recipient each, and each its own: the far end can tell submissions apart. */
  recipient: string;
  large: boolean;
  /** Ids the daemon answered with 200, in order; more than one when an answered request was repeated. */
  answeredIds: string[];
};

export type LoadOptions = {
  random: SeededRandom;
  /** Tells the runs of one test apart. */
  name: string;
  from: string;
  recipientDomain: string;
  /** Share of emails whose text is `LARGE_TEXT_BYTES`, so that their bytes become a file. */
  largeShare: number;
};

export type LoadRun = {
  daemon: DaemonProcess;
  key: string;
  clients: number;
  /** Each client waits this long between an answer and its next request. */
  pauseMs: number;
  /** Ends the run; requests on their way are waited for. */
  signal: AbortSignal;
  /** New submissions of this run at most; 0 only repeats what was not answered. */
  most: number;
};

/** Above what `blobs/` keeps in the database (256 KiB). */
export const LARGE_TEXT_BYTES = 300 * 1024;
/** Before a request that was refused for now is made again. */
const PATIENCE_MS = 50;
const SMALL_TEXT = 'A short message, such as most are.\n'.repeat(20);

export class Load {
  /** Everything that was answered with 200 at least once, in the order of the first answers. */
  readonly acknowledged: Submission[] = [];
  /** Sent, perhaps accepted, never answered. */
  readonly unanswered: Submission[] = [];
  /** Answers that must not happen under load: anything but 200, 429 and 503. */
  readonly refusals: string[] = [];
  /** Of everything ever asked for, answered or not. */
  readonly submittedRecipients = new Set<string>();
  /** Requests sent again because they got no answer, or one that asked for patience. */
  repeated = 0;
  readonly #options: LoadOptions;
  #count = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Runs until the signal, the limit, or the daemon's end. */
  async run(run: LoadRun): Promise<void> {
    const last = this.#count + run.most;
    await Promise.all(Array.from({ length: run.clients }, () => this.#client(run, last)));
  }

  /** Sends a submission and records nothing. Rejects when no answer came. */
  async send(daemon: DaemonProcess, key: string, submission: Submission): Promise<DaemonResponse> {
    const headers = { 'idempotency-key': submission.idempotencyKey };
    return daemon.request('POST', '/v1/emails', key, this.#body(submission), headers);
  }

  async #client({ daemon, key, pauseMs, signal }: LoadRun, last: number): Promise<void> {
    while (!signal.aborted) {
      const known = this.unanswered.shift();
      if (known !== undefined) this.repeated += 1;
      const submission = known ?? this.#next(last);
      if (submission === undefined) return;
      const result = await this.#submit(daemon, key, submission);
      if (result === 'gone') return;
      const waitMs = result === 'refused' ? PATIENCE_MS : pauseMs;
      if (waitMs > 0) await sleep(waitMs);
    }
  }

  /** `gone`: there was no answer. */
  async #submit(
    daemon: DaemonProcess,
    key: string,
    submission: Submission,
  ): Promise<'accepted' | 'refused' | 'gone'> {
    try {
      const answer = await this.send(daemon, key, submission);
      const id = acceptedId(answer);
      if (id !== undefined) {
        this.#acknowledge(submission, id);
        return 'accepted';
      }
      this.unanswered.push(submission);
      if (answer.status !== 429 && answer.status !== 503) {
        this.refusals.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      }
      return 'refused';
    } catch {
      this.unanswered.push(submission);
      return 'gone';
    }
  }

  #next(last: number): Submission | undefined {
    if (this.#count >= last) return undefined;
    this.#count += 1;
    const { name, recipientDomain, random, largeShare } = this.#options;
    const recipient = `${name}-${this.#count}@${recipientDomain}`;
    this.submittedRecipients.add(recipient);
    return {
      idempotencyKey: `${name}-${this.#count}`,
      recipient,
      large: random.share() < largeShare,
      answeredIds: [],
    };
  }

  /** The same submission always has the same body, or its key would conflict. */
  #body(submission: Submission): Record<string, unknown> {
    const text = submission.large ? largeText(submission.idempotencyKey) : SMALL_TEXT;
    return {
      from: this.#options.from,
      to: [submission.recipient],
      subject: `Fault test ${submission.idempotencyKey}`,
      text,
      html: '<p>A short message, such as most are.</p>',
      type: 'transactional',
    };
  }

  #acknowledge(submission: Submission, id: string): void {
    if (submission.answeredIds.length === 0) this.acknowledged.push(submission);
    submission.answeredIds.push(id);
  }
}

/** The id an answer promises delivery of; undefined for a refusal. */
export function acceptedId(answer: DaemonResponse): string | undefined {
  if (answer.status !== 200) return undefined;
  const id = (answer.body as { id?: unknown }).id;
  return typeof id === 'string' ? id : undefined;
}

/** Different for each name: equal bytes would share one file. */
function largeText(name: string): string {
  const line = `${name} ${'.'.repeat(60)}\n`;
  return line.repeat(Math.ceil(LARGE_TEXT_BYTES / line.length));
}
