/** `postrider mailbox vacation` and `postrider mailbox forward`: set what a mailbox does with its mail by itself. */
import type { Command } from 'commander';
import type { OperatorMailbox } from '../mailboxes/admin-api.ts';
import { withControl } from './context.ts';
import { UsageError } from './errors.ts';
import { printable } from './table.ts';
import type { Terminal } from './terminal.ts';

type VacationOptions = { text?: string; subject?: string; from?: string; until?: string; off?: true };
type ForwardOptions = { copy: boolean; off?: true };

/** Adds the commands to `mailbox`. */
export function addFilterCommands(mailbox: Command, terminal: Terminal): void {
  addVacation(mailbox, terminal);
  addForward(mailbox, terminal);
}

function addVacation(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('vacation')
    .description('Answer the mail of a mailbox automatically; without options, show the reply.')
    .argument('<mailbox>', 'address or id')
    .option('--text <text>', 'text of the reply')
    .option('--subject <subject>', 'subject of the reply; without it, that of the message')
    .option('--from <time>', 'time in ISO 8601 from which on mail is answered')
    .option('--until <time>', 'time in ISO 8601 from which on it is not answered any more')
    .option('--off', 'answer no mail')
    .action((name: string, { text, off, ...options }: VacationOptions, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const path = `/mailboxes/${encodeURIComponent(name)}`;
        if (text === undefined && Object.keys(options).length > 0)
          throw new UsageError('the reply needs a text: --text');
        if (text !== undefined && off) throw new UsageError('--off takes no text');
        const body = off ? { vacation: null } : { vacation: { ...options, text } };
        const changed =
          text === undefined && !off
            ? await control.request<OperatorMailbox>('GET', path)
            : await control.request<OperatorMailbox>('PATCH', path, body);
        show(changed, () => vacationText(changed));
      }),
    );
}

function vacationText({ address, vacation }: OperatorMailbox): string {
  if (!vacation) return `${address} answers no mail automatically`;
  const { from, until, subject, text } = vacation;
  const times = [...(from ? [`from ${from}`] : []), ...(until ? [`until ${until}`] : [])].join(' ');
  return [
    `${address} answers mail automatically${times === '' ? '' : ` ${times}`}:`,
    ...(subject ? [`Subject: ${printable(subject)}`] : []),
    ...text.split(/\r?\n/).map(printable),
  ].join('\n');
}

function addForward(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('forward')
    .description('Forward the mail of a mailbox; without addresses, show where it is forwarded to.')
    .argument('<mailbox>', 'address or id')
    .argument('[addresses...]', 'addresses that all mail is forwarded to')
    .option('--no-copy', 'do not store mail that is forwarded')
    .option('--off', 'forward no mail')
    .action((...[name, addresses, { copy, off }, command]: [string, string[], ForwardOptions, Command]) =>
      withControl(command, terminal, async (control, { show }) => {
        const path = `/mailboxes/${encodeURIComponent(name)}`;
        if (off && addresses.length > 0) throw new UsageError('--off takes no addresses');
        if (!copy && addresses.length === 0) throw new UsageError('--no-copy goes with addresses');
        const body = { forwardTo: addresses, keepCopy: off ? true : copy };
        const changed =
          addresses.length === 0 && !off
            ? await control.request<OperatorMailbox>('GET', path)
            : await control.request<OperatorMailbox>('PATCH', path, body);
        show(changed, () => forwardText(changed));
      }),
    );
}

function forwardText({ address, forwardTo, keepCopy }: OperatorMailbox): string {
  if (forwardTo.length === 0) return `${address} forwards no mail`;
  const kept = keepCopy ? 'and stores it too' : 'and does not store it';
  return `${address} forwards its mail, ${kept}:\n${forwardTo.join('\n')}`;
}
