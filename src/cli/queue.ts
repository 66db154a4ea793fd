/** The commands `postrider queue` list and release mail that waits for the operator, and show addresses for feedback loops. */
import type { Command } from 'commander';
import type { showHeld } from '../queue/admin-api.ts';
import { requestAction, withControl } from './context.ts';
import { UsageError } from './errors.ts';
import { formatList } from './table.ts';
import type { Terminal } from './terminal.ts';

type HeldList = { total: number; recipients: ReturnType<typeof showHeld>[] };

/** Adds the commands to the program. */
export function addQueueCommands(program: Command, terminal: Terminal): void {
  const queue = program
    .command('queue')
    .description('Manage held mail, which is not retried until it is released.');
  queue
    .command('list')
    .description('List held mail, the oldest first.')
    .action(requestAction(terminal, { request: 'GET /held', text: table }));
  queue
    .command('release')
    .description(
      'Release held mail, so that it is retried. Mail that crashed the daemon is retried alone, and is held again if it crashes the daemon once more.',
    )
    .argument('[email]', 'id of the email')
    .option('--all', 'release all held mail')
    .action((email: string | undefined, { all }: { all?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        if ((email === undefined) === (all === undefined))
          throw new UsageError('give the id of one email, or --all');
        const done = await control.request<{ released: number }>('POST', '/held/release', { emailId: email });
        show(done, () => `Released ${done.released} ${done.released === 1 ? 'recipient' : 'recipients'}`);
      }),
    );
  queue
    .command('feedback-address')
    .description(
      'Show the address to register with a provider for its feedback loop. Complaints that arrive there are counted and suppress; keep it secret.',
    )
    .argument('<provider>', 'a name for the provider, such as yahoo: each has an address of its own')
    .action(
      requestAction<{ address: string }>(terminal, {
        request: 'GET /feedback-loops/:name',
        text: ({ address }) => address,
      }),
    );
}

function table({ total, recipients }: HeldList): string {
  const rows = recipients.map((one) => [one.emailId, one.tenantId, one.to, one.heldAt, one.diagnostic ?? '']);
  const listed = formatList(['email', 'tenant', 'to', 'held at', 'why'], rows, 'No mail is held.');
  return total > recipients.length ? `${listed}\n(${recipients.length} of ${total})` : listed;
}
