/** The commands that add the further addresses and the members of a mailbox, and remove them. */
import type { Command } from 'commander';
import type { OperatorMailbox } from '../mailboxes/admin-api.ts';
import { withControl } from './context.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** A list of addresses that a mailbox has. */
type AddressList = {
  field: 'aliases' | 'members';
  command: string;
  description: string;
  /** Descriptions of the two commands and of their arguments. */
  add: string;
  remove: string;
  mailbox: string;
  address: string;
  missing: (address: string) => string;
  none: string;
  some: string;
};

const LISTS: readonly AddressList[] = [
  {
    field: 'aliases',
    command: 'alias',
    description: 'Manage the further addresses of a mailbox.',
    add: 'Let a mailbox receive for another address. *@DOMAIN is every address that nothing else receives for.',
    remove: 'Remove an address from a mailbox.',
    mailbox: 'address or id',
    address: 'the further address',
    missing: (address) => `the mailbox has no alias ${address}`,
    none: 'has no aliases',
    some: 'also receives for',
  },
  {
    field: 'members',
    command: 'member',
    description: 'Manage who uses a shared mailbox.',
    add: 'Let the owner of another mailbox use a shared mailbox.',
    remove: 'End a membership. The app passwords of the member are revoked.',
    mailbox: 'address or id of the shared mailbox',
    address: 'address of the mailbox of the member',
    missing: (address) => `${address} is not a member`,
    none: 'has no members',
    some: 'is used by',
  },
];

/** Arguments of an action: a mailbox, an address, no options, and the command itself. */
type Arguments = [string, string, object, Command];

/** Adds the commands to `mailbox`. */
export function addAddressCommands(mailbox: Command, terminal: Terminal): void {
  for (const list of LISTS) {
    const parent = mailbox.command(list.command).description(list.description);
    for (const change of ['add', 'remove'] as const)
      parent
        .command(change)
        .description(list[change])
        .argument('<mailbox>', list.mailbox)
        .argument('<address>', list.address)
        .action((...[name, address, , command]: Arguments) =>
          withControl(command, terminal, async (control, { show }) => {
            const path = `/mailboxes/${encodeURIComponent(name)}`;
            const { [list.field]: before } = await control.request<OperatorMailbox>('GET', path);
            const body = {
              [list.field]: change === 'add' ? [...before, address] : without(before, address, list),
            };
            const changed = await control.request<OperatorMailbox>('PATCH', path, body);
            show(changed, () => textOf(changed, list));
          }),
        );
  }
}

function without(before: readonly string[], address: string, { missing }: AddressList): string[] {
  const left = before.filter((known) => known !== address.toLowerCase());
  if (left.length === before.length) throw new CommandError(missing(address));
  return left;
}

function textOf(mailbox: OperatorMailbox, { field, none, some }: AddressList): string {
  const { address, [field]: addresses } = mailbox;
  return addresses.length === 0 ? `${address} ${none}` : `${address} ${some}:\n${addresses.join('\n')}`;
}
