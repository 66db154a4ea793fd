/** `postrider mailbox member`: says who uses a shared mailbox. */
import type { Command } from 'commander';
import type { OperatorMailbox } from '../mailboxes/admin-api.ts';
import { withControl } from './context.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

type Change = {
  name: 'add' | 'remove';
  description: string;
  /** Returns the members that the mailbox is to have. */
  apply: (members: readonly string[], address: string) => string[];
};

const CHANGES: readonly Change[] = [
  {
    name: 'add',
    description: 'Let the owner of another mailbox use a shared mailbox.',
    apply: (members, address) => [...members, address],
  },
  {
    name: 'remove',
    description: 'End a membership. The app passwords of the member are revoked.',
    apply(members, address) {
      const left = members.filter((member) => member !== address.toLowerCase());
      if (left.length === members.length) throw new CommandError(`${address} is not a member`);
      return left;
    },
  },
];

/** Arguments of an action: a mailbox, an address, no options, and the command itself. */
type Arguments = [string, string, object, Command];

/** Adds the commands to `mailbox`. */
export function addMemberCommands(mailbox: Command, terminal: Terminal): void {
  const member = mailbox.command('member').description('Manage who uses a shared mailbox.');
  for (const { name, description, apply } of CHANGES) {
    member
      .command(name)
      .description(description)
      .argument('<mailbox>', 'address or id of the shared mailbox')
      .argument('<address>', 'address of the mailbox of the member')
      .action((...[mailboxName, address, , command]: Arguments) =>
        withControl(command, terminal, async (control, { show }) => {
          const path = `/mailboxes/${encodeURIComponent(mailboxName)}`;
          const { members } = await control.request<OperatorMailbox>('GET', path);
          const body = { members: apply(members, address) };
          const changed = await control.request<OperatorMailbox>('PATCH', path, body);
          show(changed, () => membersText(changed));
        }),
      );
  }
}

function membersText({ address, members }: OperatorMailbox): string {
  return members.length === 0 ? `${address} has no members` : `${address} is used by:\n${members.join('\n')}`;
}
