/** The commands `postrider certificates` show the certificates of the listeners, and have them read again or renewed. */
import type { Command } from 'commander';
import type { CertificateStatus } from '../certificates/show.ts';
import { confirm } from './confirm.ts';
import { listAction, withControl } from './context.ts';
import { CommandError } from './errors.ts';
import { formatList } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addCertificateCommands(program: Command, terminal: Terminal): void {
  const certificates = program.command('certificates').description('Show and reload the TLS certificates.');
  certificates
    .command('list')
    .description('List the certificates in use, and what is wrong with their files.')
    .action(listAction(terminal, { request: 'GET /certificates', name: 'certificates', text: table }));
  certificates
    .command('reload')
    .description('Read the files of all certificates now. It fails when one of them cannot be used.')
    .action((_: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const listed = await control.request<CertificateStatus[]>('POST', '/certificates/reload');
        show(listed, () => table(listed));
        const problems = listed.flatMap(({ problem }) =>
          problem ? [`${problem.file} ${problem.reason}`] : [],
        );
        if (problems.length > 0) throw new CommandError(problems.join('; '));
      }),
    );
  certificates
    .command('renew')
    .argument('<name>', 'host name, as the list shows it')
    .description('Order the certificate of a name by ACME now, whatever its age and its last error are.')
    .option('--new-key', 'make a new key, after which a TLSA record of the earlier one is wrong')
    .action((name: string, { newKey = false }: { newKey?: boolean }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const path = `/certificates/${encodeURIComponent(name.toLowerCase())}/renew?newKey=${newKey}`;
        show(
          await control.request('POST', path),
          () => `The certificate of ${name} is being ordered. See: certificates list`,
        );
      }),
    );
  certificates
    .command('new-account')
    .description(
      'Make another account with the authority, such as when the key of the present one cannot be opened. DNS records that name the account are wrong afterwards.',
    )
    .option('--yes', 'do not ask')
    .action(({ yes }: { yes?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        if (!yes)
          await confirm(terminal, 'Make another account, after which records with this one are wrong?');
        const removed = await control.request<{ directory: string }>('POST', '/certificates/new-account');
        show(
          removed,
          () =>
            `The next order makes another account with ${removed.directory}. Then publish its records, if you have those of the earlier one: domain records`,
        );
      }),
    );
}

function table(listed: readonly CertificateStatus[]): string {
  const rows = listed.map((one) => [
    one.names?.join(' ') ?? one.order?.name ?? 'none in use',
    one.keyType ?? '',
    one.expiresAt ?? '',
    one.certificate ?? one.order?.authority ?? '',
    noteOf(one),
  ]);
  return formatList(
    ['names', 'key', 'expires', 'file', 'problem'],
    rows,
    'No certificate is configured, and the daemon has not made one yet.',
  );
}

/** Returns what an operator should know: what is wrong with the files, or when an order is tried again or renewed. */
function noteOf({ problem, order }: CertificateStatus): string {
  if (problem) return `${problem.file} ${problem.reason}`;
  if (!order) return '';
  if (order.lastError !== null) return `${order.lastError} (next attempt: ${order.nextAttemptAt ?? 'soon'})`;
  return order.renewAt === null ? 'ordered' : `renewed from ${order.renewAt}`;
}
