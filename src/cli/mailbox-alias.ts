/** `postrider mailbox alias`: adds further addresses to a mailbox, and removes them. */
import type { Command } from 'commander';
import type { OperatorMailbox } from '../mailboxes/admin-api.ts';
import { withControl } from './context.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

type Change = {
  name: 'add' | 'remove';
  description: string;
  /** Returns the aliases that the mailbox is to have. */
  apply: (aliases: readonly string[], address: string) => string[];
};

const CHANGES: readonly Change[] = [
  {
    name: 'add',
    description:
      'Let a mailbox receive for another address. *@DOMAIN is every address that nothing else receives for.',
    apply: (aliases, address) => [...aliases, address],
  },
  {
    name: 'remove',
    description: 'Remove an address from a mailbox.',
    apply(aliases, address) {
      const left = aliases.filter((alias) => alias !== address.toLowerCase());
      if (left.length === aliases.length) throw new CommandError(`the mailbox has no alias ${address}`);
      return left;
    },
  },
];

/** Arguments of an action: a mailbox, an address, no options, and the command itself. */
type Arguments = [string, string, object, Command];

/** Adds the commands to `mailbox`. */
export function addAliasCommands(mailbox: Command, terminal: Terminal): void {
  const alias = mailbox.command('alias').description('Manage the further addresses of a mailbox.');
  for (const { name, description, apply } of CHANGES) {
    alias
      .command(name)
      .description(description)
      .argument('<mailbox>', 'address or id')
      .argument('<address>', 'the further address')
      .action((...[mailboxName, address, , command]: Arguments) =>
        withControl(command, terminal, async (control, { show }) => {
          const path = `/mailboxes/${encodeURIComponent(mailboxName)}`;
          const { aliases } = await control.request<OperatorMailbox>('GET', path);
          const body = { aliases: apply(aliases, address) };
          const changed = await control.request<OperatorMailbox>('PATCH', path, body);
          show(changed, () => aliasesText(changed));
        }),
      );
  }
}

function aliasesText({ address, aliases }: OperatorMailbox): string {
  return aliases.length === 0
    ? `${address} has no aliases`
    : `${address} also receives for:\n${aliases.join('\n')}`;
}
