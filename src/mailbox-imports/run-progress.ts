/** Counts what a run of an import has done, and reports it from time to time. */
import type { Clock } from '../system/clock.ts';
import { type ImportCounts, NO_COUNTS } from './counts.ts';
import type { FailedMessage, MessageError } from './error-store.ts';
import type { RunRequest, TargetCalls } from './run.ts';
import { sourceText } from './source/source-error.ts';

/** Time between two reports, each of which is a write. The lease is longer (worker.ts). */
const REPORT_INTERVAL_MS = 1_000;
/** Number of errors at which a report is made at once. */
const MAX_HELD_ERRORS = 100;
/** Maximum length of the name of a folder in an error. */
const MAX_FOLDER_CHARACTERS = 200;

/** Reports that the import was deleted. */
export class StaleImportError extends Error {
  override readonly name = 'StaleImportError';
}

export class RunProgress {
  readonly #clock: Clock;
  readonly #target: Pick<TargetCalls, 'advance'>;
  readonly #request: RunRequest;
  readonly #counts: ImportCounts;
  /** Messages that earlier runs could not import, as `keyOf` names them. */
  readonly #failed: ReadonlySet<string>;
  /** Messages that were known, those that earlier runs have imported among them. */
  #met = 0;
  #errors: MessageError[] = [];
  #reportedAt: number;

  constructor(clock: Clock, target: Pick<TargetCalls, 'advance'>, request: RunRequest) {
    this.#clock = clock;
    this.#target = target;
    this.#request = request;
    // Each run goes through all folders, and counts again what it finds there.
    const { folders, imported, importedBytes } = request.counts;
    this.#failed = new Set(request.failed.map(keyOf));
    this.#counts = { ...NO_COUNTS, folders, imported, importedBytes };
    this.#reportedAt = clock.elapsed();
  }

  /** True when this run has added a message. */
  get hasImported(): boolean {
    return this.#counts.imported > this.#request.counts.imported;
  }

  countFolders(folders: number): void {
    this.#counts.folders = folders;
  }

  endFolder(): void {
    this.#counts.foldersDone += 1;
  }

  /**
   * Counts the messages that a folder lists. `failRest` counts those as failed that are not imported, known or failed by then. The caller records
   * the error of the folder.
   */
  openAccount(messages: number): { failRest(): void } {
    this.#counts.messages += messages;
    const before = this.#accounted;
    return {
      failRest: () => {
        this.#counts.failed += messages - (this.#accounted - before);
      },
    };
  }

  /** Messages of this run that are imported, known or failed. */
  get #accounted(): number {
    return this.#counts.imported - this.#request.counts.imported + this.#met + this.#counts.failed;
  }

  /** Ends an import. Messages of earlier runs that their server has removed since are messages of the import too. */
  complete(): void {
    const { imported, known, failed } = this.#counts;
    this.#counts.messages = imported + known + failed;
  }

  countKnown(messages: number): void {
    this.#met += messages;
    this.#counts.known = Math.max(0, this.#met - this.#request.counts.imported);
  }

  countImported(messages: number, bytes: number): void {
    this.#counts.imported += messages;
    this.#counts.importedBytes += bytes;
  }

  /**
   * Leaves out the messages that earlier runs could not import, and counts them. Slow ones would use up each run, so that those behind them
   * were never reached. Another import tries them again.
   */
  withoutFailed(path: string, uids: readonly number[]): number[] {
    const folder = shownFolder(path);
    const left = uids.filter((uid) => !this.#failed.has(keyOf({ folder, uid })));
    this.#counts.failed += uids.length - left.length;
    return left;
  }

  /** Counts a message that cannot be imported; a whole folder where the UID is 0. */
  fail(folder: string, uid: number, reason: string): void {
    if (uid !== 0) this.#counts.failed += 1;
    this.#errors.push({ folder: shownFolder(folder), uid, message: sourceText(reason) });
  }

  /**
   * Reports when the last report was a while ago.
   * @throws StaleImportError
   */
  async reportSometimes(): Promise<void> {
    const isDue = this.#clock.elapsed() - this.#reportedAt >= REPORT_INTERVAL_MS;
    if (isDue || this.#errors.length >= MAX_HELD_ERRORS) await this.report();
  }

  /**
   * Reports the counts, and the errors since the last report.
   * @throws StaleImportError
   */
  async report(): Promise<void> {
    this.#reportedAt = this.#clock.elapsed();
    const errors = this.#errors;
    this.#errors = [];
    const { id } = this.#request;
    if (!(await this.#target.advance({ id, counts: { ...this.#counts }, errors })))
      throw new StaleImportError('the import does not run any more');
  }
}

function shownFolder(path: string): string {
  return path.slice(0, MAX_FOLDER_CHARACTERS).toWellFormed();
}

function keyOf({ folder, uid }: FailedMessage): string {
  return `${uid} ${folder}`;
}
