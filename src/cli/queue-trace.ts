/** `postrider queue trace`: shows the attempts at a site while they happen. */
import type { Command } from 'commander';
import type { ShownTrace } from '../queue/control/trace-api.ts';
import { globalOptions, withControl } from './context.ts';
import { lineText } from './conversation-text.ts';
import { CommandError } from './errors.ts';
import { stopSignal } from './stop-signal.ts';
import { printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** An event, or the last line for a reader that has fallen behind. */
type Line = ShownTrace | { kind: 'dropped' };

/** Adds the command to `postrider queue`. */
export function addQueueTrace(queue: Command, terminal: Terminal): void {
  queue
    .command('trace')
    .description(
      'Show each attempt at a site as it happens, until Ctrl-C: connections, commands, replies and outcomes.',
    )
    .argument(
      '<site>',
      'one of the hosts of the site, its whole key, or a domain whose mail was deferred there',
    )
    .action((site: string, _options: object, command: Command) =>
      withControl(command, terminal, async (control) => {
        const isJson = globalOptions(command).json === true;
        const signal = stopSignal(terminal);
        const path = `/queue/trace?${new URLSearchParams({ site })}`;
        if (!isJson) terminal.complain(`Attempts at ${printable(site)} from now on; Ctrl-C ends this`);
        for await (const line of control.stream<Line>('GET', path, { signal })) {
          if (line.kind === 'dropped')
            throw new CommandError('there was more to show than this terminal takes; start again');
          terminal.print(isJson ? JSON.stringify(line) : traceText(line));
        }
        if (!signal.aborted) throw new CommandError('the daemon has ended the trace');
      }),
    );
}

function traceText(event: ShownTrace): string {
  const { at, emailId } = event;
  if (event.kind === 'line') return `${at} ${emailId} ${lineText(event)}`;
  const { outcome, to, host, diagnostic } = event;
  return `${at} ${emailId} ${outcome}: ${printable(to)} at ${host ?? 'no host'}: ${printable(diagnostic)}`;
}
