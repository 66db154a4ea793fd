/** `postrider status`: sums up the state of the installation. */
import type { Command } from 'commander';
import type { Status } from '../doctor/status.ts';
import { withControl } from './context.ts';
import type { Terminal } from './terminal.ts';

const BYTES_PER_GIGABYTE = 1024 ** 3;

/** Adds the command to the program. */
export function addStatusCommand(program: Command, terminal: Terminal): void {
  program
    .command('status')
    .description('Sum up the state of the installation.')
    .action((_: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const status = await control.request<Status>('GET', '/status');
        const { isDaemon: running } = control;
        show({ running, ...status }, () => lines(status, running));
      }),
    );
}

function lines(status: Status, running: boolean): string {
  const { freeBytes, certificatesExpireAt } = status;
  const domains = Object.entries(status.domains).map(([word, count]) => `${count} ${word}`);
  const rows: [string, string][] = [
    ['daemon', running ? `running, version ${status.version}` : 'not running'],
    ...restored(status),
    ['hostname', status.hostname],
    ['data', status.dataDir],
    ['free space', freeBytes === null ? 'not known' : `${(freeBytes / BYTES_PER_GIGABYTE).toFixed(1)} GB`],
    ['tenants', String(status.tenants)],
    ['domains', domains.join(', ') || 'none'],
    ['held mail', `${status.held}${status.held > 0 ? ' (postrider queue list)' : ''}`],
    ['tasks', `${status.waitingTasks} waiting, ${status.failedTasks} failed`],
    ['certificates', certificatesExpireAt === null ? 'none' : `valid until ${certificatesExpireAt}`],
    ['checks', checksText(status)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

/** The counts are those of the last hourly run, which a daemon that does not run or is not for production does not make. */
function checksText({ findings, checkedAt }: Status): string {
  if (checkedAt === null) return 'not run by the daemon yet (postrider doctor)';
  return `${findings.fail} failed, ${findings.warn} warn at ${checkedAt} (postrider doctor)`;
}

/** Whoever wonders why no mail leaves looks here first. */
function restored({ restoredAt }: Status): [string, string][] {
  if (restoredAt === null) return [];
  return [['restored', `${restoredAt}; nothing leaves until "postrider restore release"`]];
}
