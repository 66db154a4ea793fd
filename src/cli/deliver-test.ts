/** `postrider deliver-test`: tests the delivery to an address without a message, and shows each step as it happens. */
import type { Command } from 'commander';
import type { TestEvent } from '../queue/delivery-test/run.ts';
import { globalOptions, withControl } from './context.ts';
import { lineText } from './conversation-text.ts';
import { CommandError } from './errors.ts';
import { stopSignal } from './stop-signal.ts';
import { printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addDeliverTestCommand(program: Command, terminal: Terminal): void {
  program
    .command('deliver-test')
    .description(
      'Test the delivery to an address up to RCPT, without a message, and show each step: route, DNS, policy, TLS and replies.',
    )
    .argument('<address>')
    .option('--tenant <tenant>', 'take the outbound routes of this tenant (id or name)')
    .action((address: string, { tenant }: { tenant?: string }, command: Command) =>
      withControl(command, terminal, async (control) => {
        const isJson = globalOptions(command).json === true;
        const signal = stopSignal(terminal);
        let result: TestEvent | undefined;
        for await (const event of control.stream<TestEvent>('POST', '/deliver-test', {
          body: { address, tenant },
          signal,
        })) {
          terminal.print(isJson ? JSON.stringify(event) : eventText(event));
          result = event;
        }
        if (result?.kind !== 'result') throw new CommandError('the test has ended early');
        if (!result.isAccepted) throw new CommandError('mail to this address would not be delivered now');
      }),
    );
}

function eventText(event: TestEvent): string {
  switch (event.kind) {
    case 'step':
      return `${event.step}: ${printable(event.text)}`;
    case 'line':
      return lineText(event);
    case 'result': {
      const { isAccepted, outcome, text, class: replyClass, advice } = event;
      const verdict = isAccepted ? 'OK' : `FAIL, mail would be ${outcome}`;
      const meaning = replyClass === null ? '' : ` (${replyClass})`;
      return [`${verdict}${meaning}: ${printable(text)}`, ...(advice === null ? [] : [advice])].join('\n');
    }
  }
}
