/** The commands `postrider certificates` show the certificates of the listeners, and have their files read again. */
import type { Command } from 'commander';
import type { CertificateStatus } from '../certificates/show.ts';
import { requestAction, withControl } from './context.ts';
import { CommandError } from './errors.ts';
import { formatList } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addCertificateCommands(program: Command, terminal: Terminal): void {
  const certificates = program.command('certificates').description('Show and reload the TLS certificates.');
  certificates
    .command('list')
    .description('List the certificates in use, and what is wrong with their files.')
    .action(requestAction(terminal, { request: 'GET /certificates', text: table }));
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
}

function table(listed: readonly CertificateStatus[]): string {
  const rows = listed.map(({ names, keyType, expiresAt, certificate, problem }) => [
    names?.join(' ') ?? 'none in use',
    keyType ?? '',
    expiresAt ?? '',
    certificate,
    problem ? `${problem.file} ${problem.reason}` : '',
  ]);
  return formatList(
    ['names', 'key', 'expires', 'file', 'problem'],
    rows,
    'No certificate is configured, and the daemon has not made one yet.',
  );
}
