/**
 * Clients that send email as fast as they are answered, call some of it back, and keep a record of every promise the
 * daemon made them. A request that got no answer is kept and sent again with the same Idempotency-Key, as the API asks
 * of its callers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess, DaemonResponse } from '../support/daemon.ts';
import { asksForRetry } from './retries.ts';
import type { SeededRandom } from './seeded-random.ts';
import {
  bodyOf,
  createSubmission,
  firstId,
  type Kind,
  type Mix,
  type Submission,
  showsTexts,
} from './submission.ts';

export type LoadOptions = {
  random: SeededRandom;
  /** Tells the runs of one test apart. */
  name: string;
  from: string;
  recipientDomain: string;
  /** An address that the daemon itself receives for. */
  localAddress?: string | undefined;
  mix: Mix;
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
  /** Default: a client whose request got no answer takes the daemon for dead, and ends. */
  persistent?: boolean;
};

/** Before a request that was refused for now is made again. */
const RETRY_PAUSE_MS = 50;
const CANCEL_TRIES = 5;
/** Share of the accepted emails that the client asks for at once. */
const READ_SHARE = 0.1;

export class Load {
  /** Everything that was answered with 200 at least once, in the order of the first answers. */
  readonly acknowledged: Submission[] = [];
  /** Sent, perhaps accepted, never answered. */
  readonly unanswered: Submission[] = [];
  /** Answers that must not happen under load: anything but 200, and 429 or 503 with the time to come back. */
  readonly refusals: string[] = [];
  /** Everything ever asked for, answered or not, by its recipient. */
  readonly submitted = new Map<string, Submission>();
  /** Requests sent again because they got no answer, or one that asked for a retry. */
  repeated = 0;
  /** How often the daemon answered 429 or 503. */
  refused = 0;
  /** How often it did not answer. */
  gone = 0;
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
    return daemon.request('POST', '/v1/emails', key, bodyOf(submission, this.#options.from), headers);
  }

  /** Takes a promise for not made: it is asked for again under the same key. */
  forget(submission: Submission): void {
    this.acknowledged.splice(this.acknowledged.indexOf(submission), 1);
    submission.answeredIds = [];
    submission.cancellation = submission.cancellation === 'none' ? 'none' : 'planned';
    this.unanswered.push(submission);
  }

  async #client(run: LoadRun, last: number): Promise<void> {
    const { daemon, key, pauseMs, signal, persistent = false } = run;
    while (!signal.aborted) {
      const known = this.unanswered.shift();
      if (known !== undefined) this.repeated += 1;
      const submission = known ?? this.#next(last);
      if (submission === undefined) return;
      const result = await this.#submit(daemon, key, submission);
      if (result === 'accepted' && submission.cancellation === 'planned') {
        await this.#cancel(daemon, key, submission);
      }
      if (result === 'accepted' && this.#options.random.share() < READ_SHARE) {
        await this.#read(daemon, key, submission);
      }
      if (result === 'gone' && !persistent) return;
      const waitMs = result === 'accepted' ? pauseMs : RETRY_PAUSE_MS;
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
      this.#noteRefusal('POST /v1/emails', answer);
      return 'refused';
    } catch {
      this.unanswered.push(submission);
      this.gone += 1;
      return 'gone';
    }
  }

  async #cancel(daemon: DaemonProcess, key: string, submission: Submission): Promise<void> {
    submission.cancellation = 'asked';
    for (let attempt = 0; attempt < CANCEL_TRIES; attempt++) {
      try {
        const answer = await daemon.request('POST', `/v1/emails/${firstId(submission)}/cancel`, key);
        if (answer.status === 200) submission.cancellation = 'confirmed';
        else if (answer.status === 409) submission.cancellation = 'refused';
        else this.#noteRefusal('POST cancel', answer);
        if (submission.cancellation !== 'asked') return;
      } catch {
        this.gone += 1;
      }
      await sleep(RETRY_PAUSE_MS);
    }
  }

  /** Asks for an email that was accepted, which must be shown with the texts it was sent with. */
  async #read(daemon: DaemonProcess, key: string, submission: Submission): Promise<void> {
    try {
      const answer = await daemon.request('GET', `/v1/emails/${firstId(submission)}`, key);
      if (answer.status !== 200) this.#noteRefusal('GET', answer);
      else if (!showsTexts(submission, answer.body)) this.refusals.push('GET: other texts than were sent');
    } catch {
      this.gone += 1;
    }
  }

  #noteRefusal(what: string, answer: DaemonResponse): void {
    const { status, body } = answer;
    if (asksForRetry(answer)) this.refused += 1;
    else this.refusals.push(`${what}: ${status} ${withoutIds(JSON.stringify(body))}`);
  }

  #next(last: number): Submission | undefined {
    if (this.#count >= last) return undefined;
    this.#count += 1;
    const { name, recipientDomain, localAddress = '', random, mix } = this.#options;
    const idempotencyKey = `${name}-${this.#count}`;
    const addressOf = (kind: Kind) =>
      kind === 'local'
        ? localAddress.replace('@', `+${idempotencyKey}@`)
        : `${idempotencyKey}@${recipientDomain}`;
    const submission = createSubmission(random, mix, { idempotencyKey, addressOf });
    this.submitted.set(submission.recipient, submission);
    return submission;
  }

  #acknowledge(submission: Submission, id: string): void {
    if (submission.answeredIds.length === 0) this.acknowledged.push(submission);
    submission.answeredIds.push(id);
  }
}

/** So that equal refusals are counted as one. */
function withoutIds(text: string): string {
  return text.replace(/(em|req)_\w+/g, '$1_…');
}

/** The id an answer promises delivery of; undefined for a refusal. */
export function acceptedId(answer: DaemonResponse): string | undefined {
  if (answer.status !== 200) return undefined;
  const id = (answer.body as { id?: unknown }).id;
  return typeof id === 'string' ? id : undefined;
}
