/** The signal that ends a command that goes on until Ctrl-C. */
import type { Terminal } from './terminal.ts';

/** Returns a signal that is aborted when the user stops the command. */
export function stopSignal(terminal: Pick<Terminal, 'untilStopped'>): AbortSignal {
  const stop = new AbortController();
  void terminal.untilStopped().then(() => stop.abort());
  return stop.signal;
}
