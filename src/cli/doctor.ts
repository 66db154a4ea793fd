/** `postrider doctor`: checks everything that an operator has to keep right, and says what to do. */
import type { Command } from 'commander';
import type { DoctorAnswer } from '../doctor/admin-api.ts';
import { type Finding, worstOf } from '../doctor/check.ts';
import { withControl } from './context.ts';
import { CommandError, UsageError } from './errors.ts';
import { findingLines } from './finding-lines.ts';
import type { Terminal } from './terminal.ts';

type Options = { domain?: string; silence?: string; unsilence?: string };

/** Adds the command to the program. */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  program
    .command('doctor')
    .description(
      'Check DNS, reverse DNS, port 25, blocklists, certificates, the disk and the rules of bulk senders. The exit code is 1 when something fails.',
    )
    .option('--domain <domain>', 'check the DNS records of one domain instead')
    .option('--silence <check>', 'send no more mail about a check')
    .option('--unsilence <check>', 'send mail about a check again')
    .action((options: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const { domain, silence, unsilence } = options;
        if (Object.keys(options).length > 1) throw new UsageError('give one option');
        const check = silence ?? unsilence;
        if (check !== undefined) {
          const body = { check, silenced: silence !== undefined };
          const answer = await control.request<{ silenced: string[] }>('POST', '/doctor/silence', body);
          show(answer, () => silencedText(answer.silenced));
          return;
        }
        const query = domain === undefined ? '' : `?domain=${encodeURIComponent(domain)}`;
        const answer = await control.request<DoctorAnswer>('GET', `/doctor${query}`);
        show(answer, () => findingsText(answer));
        if (worstOf(answer.findings) === 'fail') throw new CommandError(failuresText(answer));
      }),
    );
}

/** Returns the findings as lines. */
function findingsText({ findings, silenced }: DoctorAnswer): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const noteOf = ({ level, check }: Finding) =>
    level !== 'ok' && silenced.includes(check) ? ' (silenced)' : '';
  return findingLines(findings, { width, noteOf }).join('\n');
}

function failuresText({ findings }: DoctorAnswer): string {
  const count = findings.filter(({ level }) => level === 'fail').length;
  return `${count} of ${findings.length} findings are failures`;
}

function silencedText(silenced: readonly string[]): string {
  return silenced.length === 0 ? 'No check is silenced.' : `Silenced: ${silenced.join(', ')}`;
}
