/** `postrider setup`: leads from a bare machine to a first mail. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { worstOf } from '../doctor/check.ts';
import { globalOptions } from './context.ts';
import { CommandError } from './errors.ts';
import { PROXIES, readAnswers, type SetupOptions } from './setup/answers.ts';
import { Report } from './setup/report.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addSetupCommand(program: Command, terminal: Terminal): void {
  program
    .command('setup')
    .description(
      'Check this machine, configure and start the daemon, make a domain, a mailbox and keys, wait for DNS and a certificate, and send a first message. It is safe to run again.',
    )
    .argument('<address>', 'your address at the domain that mail is to come from; it becomes a mailbox')
    .option('--hostname <name>', 'host name of this machine (default: mail.<domain>)')
    .option(
      '--address <ip>',
      'public address of this machine, such as behind NAT; can be given several times',
      collect,
    )
    .option(
      '--relay <url>',
      'send all mail through this relay, smtp://user@host (STARTTLS) or smtps://user@host; its password is read from standard input',
    )
    .addOption(
      new Option(
        '--behind-proxy <proxy>',
        'leave ports 80 and 443 to a proxy, and write its configuration',
      ).choices([...PROXIES]),
    )
    .option('--ipv4-only', 'send over IPv4 alone, such as where IPv6 has no reverse DNS')
    .option('--acme <url>', "directory of the certificate authority (default: Let's Encrypt)")
    .option('--no-acme', 'order no certificates')
    .option('--test-to <address>', 'address that the first message goes to (default: the new mailbox)')
    .option('--wait <seconds>', 'time to wait for DNS and for the certificate (default: 600)', readSeconds)
    .option('--no-wait', 'look once, and leave the rest to the daemon')
    .option('--yes', 'ask nothing, and accept the terms of the certificate authority')
    .action(async (address: string, options: SetupOptions, command: Command) => {
      const { json, config } = globalOptions(command);
      // Questions would stand between the lines of the JSON.
      const asking = { ...terminal, interactive: terminal.interactive && !json };
      const answers = readAnswers(address, withoutDefaults(options), asking);
      const report = new Report(terminal, { isJson: json === true });
      // The import is deferred because it loads the database code, which takes most of the start-up time of a command.
      const { setUp } = await import('./setup/run.ts');
      await setUp({ terminal, report, configFile: config }, answers);
      const failures = report.findings.filter(({ level }) => level === 'fail').length;
      if (worstOf(report.findings) === 'fail')
        throw new CommandError(
          `${failures} of ${report.findings.length} findings are failures; mend them, and run this again`,
        );
    });
}

/** An option that `--no-…` can switch off is true unless it is given, which means the same as its absence. */
function withoutDefaults(options: SetupOptions & { acme?: unknown; wait?: unknown }): SetupOptions {
  const { acme, wait, ...others } = options;
  return {
    ...others,
    ...((typeof acme === 'string' || acme === false) && { acme }),
    ...((typeof wait === 'number' || wait === false) && { wait }),
  };
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Maximum time that may be waited for, in seconds: a day. */
const MAX_WAIT_SECONDS = 86_400;

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,6}$/.test(text) || seconds > MAX_WAIT_SECONDS)
    throw new InvalidArgumentError(`Give whole seconds, at most ${MAX_WAIT_SECONDS}.`);
  return seconds;
}
