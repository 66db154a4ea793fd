/** `postrider mailbox outbox`: shows the mail of a mailbox that waits to be sent, and cancels it. */
import type { Command } from 'commander';
import type { WaitingEmail } from '../mailboxes/outbox-api.ts';
import { withControl } from './context.ts';
import { UsageError } from './errors.ts';
import { formatList, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

type Outbox = { hasMore: boolean; emails: WaitingEmail[] };
type Options = { cancel?: string; cancelAll?: true };

/** Adds the command to those of `mailbox`. */
export function addOutboxCommand(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('outbox')
    .description('Show the mail of a mailbox that waits to be sent, the newest first, or cancel it.')
    .argument('<mailbox>', 'address or id')
    .option('--cancel <email>', 'cancel the email with this id; its writer is told')
    .option('--cancel-all', 'cancel all of it')
    .action((name: string, { cancel, cancelAll }: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        if (cancel !== undefined && cancelAll)
          throw new UsageError('give --cancel or --cancel-all, not both');
        const path = `/mailboxes/${encodeURIComponent(name)}/outbox`;
        if (cancel === undefined && !cancelAll) {
          const outbox = await control.request<Outbox>('GET', path);
          return show(outbox, () => table(outbox));
        }
        const wanted = { emailId: cancel };
        const done = await control.request<{ canceled: number }>('POST', `${path}/cancel`, wanted);
        show(done, () => `Canceled ${done.canceled} ${done.canceled === 1 ? 'email' : 'emails'}`);
      }),
    );
}

const HEADINGS = ['email', 'from', 'to', 'status', 'leaves at', 'handed in', 'with', 'size'];
const BYTES_PER_KILOBYTE = 1024;

function table({ emails, hasMore }: Outbox): string {
  const listed = formatList(HEADINGS, emails.flatMap(toRows), 'No mail waits to be sent.');
  return hasMore ? `${listed}\n(the newest ${emails.length})` : listed;
}

/** Returns a line for each recipient. */
function toRows({ emailId, from, recipients, ...email }: WaitingEmail): string[][] {
  const size = `${Math.ceil(email.sizeBytes / BYTES_PER_KILOBYTE)} KB`;
  const last = [email.createdAt, email.handedInWith ?? 'script', size];
  return recipients.map(({ to, status, nextAttemptAt }) => [
    ...[emailId, printable(from), printable(to), status, nextAttemptAt ?? '-'],
    ...last,
  ]);
}
