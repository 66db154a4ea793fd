/** `postrider person`: lets people log in to the dashboard, with links that work once. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { requestAction, withControl } from './context.ts';
import { formatList } from './table.ts';
import type { Terminal } from './terminal.ts';

type Link = { url: string; expiresAt: string };
type Operator = { id: string; email: string; name: string };
type Deleted = { email: string; tenants: string[] };
type LinkOptions = { tenant?: string; role?: string; operator?: true };

/** Adds the commands to the program. */
export function addPersonCommands(program: Command, terminal: Terminal): void {
  const person = program
    .command('person')
    .description('Let people log in to the dashboard, where they see and steer everything.');
  const link = person.command('link');
  link
    .description(
      'Print a link that lets a person in once, within 30 minutes: the first operator (no address), an invited person, or one that has lost its password (its address alone).',
    )
    .argument('[email]', 'address of the person')
    .option('--tenant <tenant>', 'id or name of the tenant that the person joins')
    .addOption(
      new Option('--role <role>', 'what the person may do there').choices(['owner', 'admin', 'viewer']),
    )
    .option('--operator', 'let the person operate the whole installation')
    .action((email: string | undefined, options: LinkOptions) =>
      withControl(link, terminal, async (control, { show }) => {
        const made = await control.request<Link>('POST', '/people/links', { email, ...options });
        show(made, () => `Open this link within 30 minutes; it works once:\n${made.url}`);
      }),
    );
  person
    .command('operators')
    .description('List those who operate the installation.')
    .action(
      requestAction<Operator[]>(terminal, {
        request: 'GET /people/operators',
        text: (operators) =>
          formatList(
            ['ADDRESS', 'NAME'],
            operators.map(({ email, name }) => [email, name]),
            'Nobody operates the installation in the dashboard yet: postrider person link',
          ),
      }),
    );
  const remove = person.command('delete');
  remove
    .description('Delete a person and its sessions. The audit log keeps what it has done.')
    .argument('<email>')
    .action((email: string) =>
      withControl(remove, terminal, async (control, { show }) => {
        const deleted = await control.request<Deleted>('DELETE', `/people/${encodeURIComponent(email)}`);
        show(deleted, () => `Deleted ${deleted.email}`);
      }),
    );
}
