/** Watches a run of an import while it waits for the other server, so that a slow server cannot prolong it. */
import type { Clock } from '../system/clock.ts';
import type { RunProgress } from './run-progress.ts';
import { SourceError } from './source/source-error.ts';

/** Time between two reports, each of which extends the lease and tells whether the import was deleted. */
const WATCH_INTERVAL_MS = 10_000;

type Watched = {
  progress: Pick<RunProgress, 'report'>;
  /** Time after which the run is ended. */
  maxMs: number;
  /** Ends what the run waits for. */
  onEnd(): void;
};

type RunWatch = {
  /** Why the run was ended; undefined while it may go on. */
  readonly failure: Error | undefined;
  stop(): void;
};

/** Ends a run that takes too long, and one whose import was deleted. */
export function watchRun(clock: Clock, { progress, maxMs, onEnd }: Watched): RunWatch {
  let failure: Error | undefined;
  let isStopped = false;
  const end = (cause: Error): void => {
    if (isStopped) return;
    failure ??= cause;
    onEnd();
  };
  const deadline = clock.after(maxMs, () => {
    end(new SourceError('source_unavailable', 'The server is too slow'));
  });
  const wait = () =>
    clock.after(WATCH_INTERVAL_MS, () => {
      progress.report().then(() => {
        if (!isStopped) timer = wait();
      }, end);
    });
  let timer = wait();
  return {
    get failure() {
      return failure;
    },
    stop() {
      isStopped = true;
      deadline.cancel();
      timer.cancel();
    },
  };
}
