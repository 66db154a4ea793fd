/**
 * The command `postrider` with its subcommands, each in its own file. Exit codes: 0 success, 1 failure, 2 wrong
 * usage.
 */

import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import { VERSION } from '../version.ts';
import { addBackupCommands } from './backup.ts';
import { addBlobCommands } from './blobs.ts';
import { addBroadcastCommands } from './broadcast.ts';
import { addCertificateCommands } from './certificates.ts';
import { addCompletionCommand } from './completion.ts';
import { addConfigCommands } from './config.ts';
import { createPrinter } from './context.ts';
import { addDbCommands } from './db.ts';
import { addDeliverTestCommand } from './deliver-test.ts';
import { addDemoCommand } from './demo.ts';
import { addDnsCommands } from './dns.ts';
import { addDoctorCommand } from './doctor.ts';
import { addDomainCommands } from './domain.ts';
import { addEmailCommands } from './email.ts';
import { UsageError } from './errors.ts';
import { addExplainCommand } from './explain.ts';
import { addInboundCommands } from './inbound.ts';
import { addKeyCommands } from './key.ts';
import { addLogsCommand } from './logs.ts';
import { addMailboxCommands } from './mailbox.ts';
import { addManCommand } from './man.ts';
import { addMcpCommand } from './mcp.ts';
import { addMetricsCommand } from './metrics.ts';
import { addNameServerCommand } from './nameserver.ts';
import { addPersonCommands } from './person.ts';
import { addPlanCommands } from './plan.ts';
import { addQueueCommands } from './queue.ts';
import { addRestoreCommands } from './restore.ts';
import { addRouteCommands } from './route.ts';
import { addSendCommand } from './send.ts';
import { addServeCommands } from './serve.ts';
import { addSetupCommand } from './setup.ts';
import { addSourceCommands } from './source.ts';
import { addStandbyCommands } from './standby.ts';
import { addStatusCommand } from './status.ts';
import { addSuppressionCommands } from './suppression.ts';
import { printable } from './table.ts';
import { addTaskCommands } from './task.ts';
import { addTenantCommands } from './tenant.ts';
import type { Terminal } from './terminal.ts';
import { addUpgradeCommand } from './upgrade.ts';

type AddCommands = (program: Command, terminal: Terminal) => void;

const COMMANDS: readonly AddCommands[] = [
  addServeCommands,
  addDemoCommand,
  addSetupCommand,
  addStatusCommand,
  addDoctorCommand,
  addSendCommand,
  addTenantCommands,
  addPersonCommands,
  addPlanCommands,
  addKeyCommands,
  addDomainCommands,
  addEmailCommands,
  addDnsCommands,
  addQueueCommands,
  addDeliverTestCommand,
  addRouteCommands,
  addSourceCommands,
  addExplainCommand,
  addSuppressionCommands,
  addBroadcastCommands,
  addInboundCommands,
  addMailboxCommands,
  addNameServerCommand,
  addCertificateCommands,
  addTaskCommands,
  addBackupCommands,
  addRestoreCommands,
  addStandbyCommands,
  addUpgradeCommand,
  addBlobCommands,
  addDbCommands,
  addMcpCommand,
  addLogsCommand,
  addMetricsCommand,
  addConfigCommands,
  addCompletionCommand,
  addManCommand,
  addVersionCommand,
];

type ExitCode = 0 | 1 | 2;

/** Runs the program with the given arguments and returns its exit code. It never rejects. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const program = buildProgram(terminal);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UsageError) {
      terminal.complain(`error: ${error.message}`);
      return 2;
    }
    terminal.complain(`error: ${explain(error)}`);
    return 1;
  }
}

function buildProgram(terminal: Terminal): Command {
  const program = new Command('postrider')
    .description('A self-hosted mail appliance: HTTP API, delivery engine and inbound mail in one daemon.')
    .version(VERSION)
    .option(
      '--config <file>',
      'configuration file (default: $POSTRIDER_CONFIG; without one, the defaults for development)',
    )
    .option('--json', 'print JSON instead of text');
  for (const add of COMMANDS) add(program, terminal);
  // These settings are applied after all subcommands exist, because only commands that are made later inherit them.
  for (const command of withDescendants(program)) {
    command
      .exitOverride()
      .configureOutput({
        writeOut: (text) => terminal.print(text.trimEnd()),
        writeErr: (text) => terminal.complain(text.trimEnd()),
      })
      .configureHelp({ showGlobalOptions: true })
      .showHelpAfterError(
        `Run "postrider ${command === program ? '' : `${pathOf(command)} `}--help" for usage.`,
      );
  }
  return program;
}

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

function pathOf(command: Command): string {
  return command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/**
 * Names of the errors that an operator can act on. They are shown in one line; any other error is a bug and shown
 * with its stack.
 */
const ACTIONABLE = [
  'BackupError',
  'CertificateError',
  'CommandError',
  'CompactionError',
  'ConfigError',
  'ControlSocketError',
  'DataDirectoryError',
  'DataTableError',
  'LockedError',
  'MissingKeyError',
  'RehearsalError',
  'ReplacedError',
  'SchemaVersionError',
  'ServerFileError',
  'StoreError',
  'StoreSettingsError',
  'StandbyError',
  'WrongKeyError',
];

function explain(error: unknown): string {
  // The name is compared, because an error from a database thread has lost its class.
  if (error instanceof Error && ACTIONABLE.includes(error.name)) return printable(firstLine(error.message));
  return inspect(error);
}

/** Returns the first line of a message. The message of a YAML error continues with an excerpt of the file. */
function firstLine(message: string): string {
  return message.split('\n', 1).join('').replace(/:$/, '');
}

/** Adds the command to the program. */
function addVersionCommand(program: Command, terminal: Terminal): void {
  program
    .command('version')
    .description('Print the versions of Postrider and of Node.')
    .action((_: object, command: Command) => {
      const { node } = process.versions;
      const show = createPrinter(command, terminal);
      show({ postrider: VERSION, node }, () => `postrider ${VERSION} (Node ${node})`);
    });
}
