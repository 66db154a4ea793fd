/**
 * What must be taken back however a run ends: mounts, loop devices, processes, directories. Last done, first undone;
 * synchronously, because it also runs from the process's exit handler, where nothing can be waited for.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const steps: { what: string; run: () => void }[] = [];

/** Takes a step now, once; `using` takes it at the end of the block. */
export type Undo = (() => void) & Disposable;

/** Registers a step. */
export function undoLater(what: string, run: () => void): Undo {
  const step = { what, run };
  steps.push(step);
  const undo = () => {
    const index = steps.indexOf(step);
    if (index < 0) return;
    steps.splice(index, 1);
    run();
  };
  return Object.assign(undo, { [Symbol.dispose]: undo });
}

// Daemons started through `test/support/daemon.ts` are killed by its handler, which was registered before this one.
process.on('exit', () => {
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    try {
      step.run();
    } catch (error) {
      console.error(`could not undo "${step.what}": ${String(error)}`);
      process.exitCode = 1;
    }
  }
});

/** Removed when everything registered after it has been undone: what is mounted below is unmounted first. */
export function workingDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'postrider-faults-'));
  undoLater(`directory ${directory}`, () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const TRIES = 100;
const PAUSE_MS = 50;

/** Tries again for a few seconds: a killed process may still hold a file of the mount it lived on. */
export function insist(run: () => void): void {
  for (let attempt = 1; ; attempt++) {
    try {
      run();
      return;
    } catch (error) {
      if (attempt === TRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
