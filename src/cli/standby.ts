/** The commands `postrider standby` for a second host, which keeps a copy of an installation. */
import { hostname as nameOfMachine } from 'node:os';
import type { Command } from 'commander';
import type { ObjectHost, ServeOptions } from '../standby/server/serve.ts';
import { realClock } from '../system/clock.ts';
import { statDisk } from '../system/disk-space.ts';
import { errorMessage } from '../system/errors.ts';
import { isListenError } from '../system/listen.ts';
import { createLog, type Log, textDestination } from '../system/log.ts';
import { openServiceManager, type ServiceManager } from '../system/service-manager.ts';
import { createPrinter, globalOptions } from './context.ts';
import { CommandError, UsageError } from './errors.ts';
import { addStandbyFollow } from './standby-follow.ts';
import { addStandbyStatus } from './standby-status.ts';
import type { Terminal } from './terminal.ts';

type ServeFlags = {
  folder: string;
  listen: string;
  hostname?: string;
  certificate?: string;
  key?: string;
  tokenFile?: string;
  reserveMegabytes: string;
};

const DEFAULT_PORT = 8465;
const BYTES_PER_MEGABYTE = 1024 * 1024;

/** Adds the commands to the program. */
export function addStandbyCommands(program: Command, terminal: Terminal): void {
  const standby = program.command('standby').description('Keep a copy of an installation on a second host.');
  addStandbyStatus(standby, terminal);
  addStandbyFollow(standby, terminal);
  standby
    .command('serve')
    .description(
      'Receive what a primary ships, over HTTPS, and keep it in a folder. It is encrypted, and this host cannot read it. Needs no configuration file.',
    )
    .requiredOption('--folder <folder>', 'folder to keep everything in, which exists')
    .option('--listen <address>', 'address and port to listen on', `[::]:${DEFAULT_PORT}`)
    .option('--hostname <name>', 'name of this host, as the primary knows it (default: that of the machine)')
    .option('--certificate <file>', 'certificate of your own, in PEM (default: one is made)')
    .option('--key <file>', 'key of the certificate, in PEM')
    .option('--token-file <file>', 'file with a token in each line (default: one is made)')
    .option('--reserve-megabytes <number>', 'free space below which nothing is accepted', '512')
    .action(async (flags: ServeFlags, command: Command) => {
      const options = readFlags(flags);
      const { json } = globalOptions(command);
      const stopped = terminal.untilStopped();
      const log = createLog('info', json ? undefined : textDestination());
      const host = await start(options, log);
      createPrinter(command, terminal)(host, () => welcome(host, options.hostname));
      const manager = openServiceManager({ clock: realClock, log }, terminal.env);
      terminal.onReload(() => reload(host, manager, log));
      manager.reportReady();
      await stopped;
      manager.reportStopping();
      await host.close().finally(() => manager.close());
    });
}

function readFlags(flags: ServeFlags): ServeOptions {
  const { folder, certificate, key, tokenFile } = flags;
  if ((certificate === undefined) !== (key === undefined))
    throw new UsageError('--certificate and --key need each other');
  if (!/^\d{1,9}$/.test(flags.reserveMegabytes)) throw new UsageError('--reserve-megabytes is a number');
  return {
    folder,
    at: readEndpoint(flags.listen),
    hostname: flags.hostname ?? nameOfMachine(),
    files: certificate !== undefined && key !== undefined ? { certificate, key } : undefined,
    tokenFile,
    reserveBytes: Number(flags.reserveMegabytes) * BYTES_PER_MEGABYTE,
  };
}

/** Reads `192.0.2.1:8465`, `[2001:db8::1]:8465`, or an address alone. */
function readEndpoint(text: string): ServeOptions['at'] {
  const [, six, four, port = String(DEFAULT_PORT)] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = six ?? four;
  if (address === undefined || Number(port) > 65_535)
    throw new UsageError('--listen is an address with a port, such as 192.0.2.1:8465 or [::]:8465');
  return { address, port: Number(port) };
}

async function start(options: ServeOptions, log: Log): Promise<ObjectHost> {
  const { serveObjects } = await import('../standby/server/serve.ts');
  try {
    return await serveObjects({ clock: realClock, log, statDisk }, options);
  } catch (error) {
    if (!isListenError(error)) throw error;
    throw new CommandError(`${error.message}: choose another with --listen`, { cause: error });
  }
}

/** Reads a renewed certificate and the tokens. A file that cannot be used is reported, and the earlier ones stay. */
function reload(host: ObjectHost, manager: ServiceManager, log: Log): void {
  manager.reportReloading();
  try {
    host.reload();
    log.info('the certificate and the tokens were read again');
  } catch (error) {
    log.error({ reason: errorMessage(error) }, 'the files cannot be used, and nothing has changed');
  }
  manager.reportReady();
}

function welcome({ address, pin, tokenFile, objects }: ObjectHost, hostname: string): string {
  const port = /\d+$/.exec(address)?.[0] ?? '';
  return [
    `Listens on ${address}, and keeps objects in ${objects}.`,
    `URL: https://${hostname}:${port}`,
    `Pin of its key: ${pin}`,
    `Token: in ${tokenFile}`,
  ].join('\n');
}
