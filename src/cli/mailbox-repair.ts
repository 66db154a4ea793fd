/** The commands `postrider mailbox check` and `repair`. */
import type { Command } from 'commander';
import type { CheckReport } from '../accounts/check.ts';
import type { RepairReport } from '../accounts/repair.ts';
import { realClock, type Timer } from '../system/clock.ts';
import { confirm } from './confirm.ts';
import { withControl } from './context.ts';
import { CommandError } from './errors.ts';
import { printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to those of `postrider mailbox`. */
export function addRepairCommands(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('check')
    .description('Check the database and all messages of a mailbox, while it is used.')
    .argument('<mailbox>', 'address or id')
    .action((name: string, _: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const report = await checkAll((after) =>
          control.request<CheckReport>('POST', `${pathOf(name)}/check?after=${after}`),
        );
        show(report, () => checkText(name, report));
        if (report.findings.length > 0) throw new CommandError(`${name} is damaged; see "mailbox repair"`);
      }),
    );
  mailbox
    .command('repair')
    .description(
      'Copy everything that can be read of a damaged mailbox into a new database. Mail programs then fetch all messages again.',
    )
    .argument('<mailbox>', 'address or id')
    .option('--yes', 'repair without asking')
    .action((name: string, { yes }: { yes?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        if (!yes)
          await confirm(terminal, `Repair ${name}? Its sessions end, and mail programs fetch all again.`);
        const report = await reportTime(terminal, `Repairing ${name}`, () =>
          control.startWork<RepairReport>(`${pathOf(name)}/repair`),
        );
        show(report, () => repairText(name, report));
      }),
    );
}

/** Time between two lines about work that goes on, in milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/** Runs work, and says regularly on standard error how long it has taken. */
async function reportTime<Result>(
  terminal: Terminal,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const beganAt = realClock.elapsed();
  const begin = (): Timer =>
    realClock.after(REPORT_INTERVAL_MS, () => {
      terminal.complain(`${what} (${Math.round((realClock.elapsed() - beganAt) / 1_000)} s)`);
      timer = begin();
    });
  let timer = begin();
  try {
    return await work();
  } finally {
    timer.cancel();
  }
}

type Checked = Pick<CheckReport, 'contents' | 'findings'>;

/** Checks part by part, since a large mailbox takes minutes. */
async function checkAll(check: (after: number) => Promise<CheckReport>): Promise<Checked> {
  const all: Checked = { contents: 0, findings: [] };
  for (let after: number | null = 0; after !== null; ) {
    const part: CheckReport = await check(after);
    all.contents += part.contents;
    all.findings.push(...part.findings);
    after = part.next;
  }
  return all;
}

function checkText(name: string, { contents, findings }: Checked): string {
  const read = `Read ${contents} ${contents === 1 ? 'message' : 'messages'} of ${name}`;
  if (findings.length === 0) return `${read}; nothing is damaged`;
  return [`${read}:`, ...findings.map(printable)].join('\n');
}

function repairText(name: string, report: RepairReport): string {
  const { messages, recovered, altered, gone, unreadable, evidence } = report;
  return [
    `Repaired ${name}: it has ${messages} messages`,
    ...(recovered > 0 ? [`${recovered} have lost their folder and are in "Recovered"`] : []),
    ...(altered > 0 ? [`${altered} have other bytes than were stored, and are kept as they are`] : []),
    ...gone.map((place) => `${printable(place)} is gone`),
    ...(unreadable > 0 ? [`${unreadable} places of the database could not be read`] : []),
    `The damaged files are in ${evidence}`,
  ].join('\n');
}

function pathOf(name: string): string {
  return `/mailboxes/${encodeURIComponent(name)}`;
}
