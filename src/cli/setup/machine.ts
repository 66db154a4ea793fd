/** Checks the machine itself, without a look at the network: memory, disk, clock and ports. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Config } from '../../config/config.ts';
import { type Finding, findingsOf } from '../../doctor/check.ts';
import { clock } from '../../doctor/checks/clock.ts';
import { disk } from '../../doctor/checks/disk.ts';
import { memory } from '../../doctor/checks/memory.ts';
import { type ConfiguredPort, configuredPorts } from '../../doctor/checks/ports.ts';
import { realClock, sleepInForeground } from '../../system/clock.ts';
import { statDisk } from '../../system/disk-space.ts';
import { errorCode } from '../../system/errors.ts';
import { realMachine } from '../../system/machine.ts';
import { findPortHolder, type PortHolder } from '../../system/port-holder.ts';

const portFinding = findingsOf('ports');

/** Returns the findings. `isRunning` says that our own daemon has the ports. */
export async function checkMachine(config: Config, isRunning: boolean): Promise<Finding[]> {
  return [
    ...(await memory.run()),
    ...(await disk.run({ config, statDisk: (path) => statDisk(nearestFolder(path)) })),
    ...(await clock.run({ clock: realClock, clockWatch: { behindMs: 0 }, machine: realMachine })),
    ...(isRunning
      ? [portFinding.ok('this machine', 'the daemon runs, and has its ports')]
      : await checkPorts(config)),
  ];
}

/** Returns the folder, or the one above it that exists: the data directory may not have been made yet. */
function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Time after which busy ports are tried again, in milliseconds: the daemon of a set-up that was killed closes them at once. */
const RETRY_MS = 2_000;

async function checkPorts(config: Config): Promise<Finding[]> {
  const wanted = configuredPorts(config);
  const look = async () => (await Promise.all(wanted.map(checkPort))).flatMap((finding) => finding ?? []);
  if ((await look()).length > 0) await sleepInForeground(RETRY_MS);
  const failed = await look();
  if (failed.length > 0) return failed;
  return [portFinding.ok('this machine', `${wanted.map(({ port }) => port).join(' ')} are free`)];
}

async function checkPort({ address, port, setting }: ConfiguredPort): Promise<Finding | undefined> {
  const code = await tryToListen(address, port);
  const subject = `port ${port}`;
  switch (code) {
    case undefined:
      return undefined;
    case 'EADDRINUSE': {
      const holder = findPortHolder(port);
      const isWeb = setting.startsWith('https.');
      const instead = isWeb
        ? ', or keep it as a proxy: postrider setup --behind-proxy caddy (or nginx)'
        : `, or set ${setting}`;
      return portFinding.fail(subject, `in use by ${nameOf(holder)}`, `${endingOf(holder)}${instead}`);
    }
    case 'EACCES':
    case 'EPERM':
      return portFinding.fail(subject, 'this user may not listen on it', `run as root, or set ${setting}`);
    default:
      return portFinding.fail(subject, `it cannot be listened on at ${address} (${code})`, `set ${setting}`);
  }
}

function nameOf(holder: PortHolder | undefined): string {
  return holder ? `${holder.name}, pid ${holder.pid}` : 'another program, which this user cannot see';
}

function endingOf(holder: PortHolder | undefined): string {
  if (!holder) return 'find it with "ss -ltnp" as root and stop it';
  return holder.unit === undefined
    ? `stop it (kill ${holder.pid})`
    : `systemctl disable --now ${holder.unit}`;
}

/** Returns the code of the error; undefined when the port is free. */
function tryToListen(address: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => {
      // Without IPv6, all addresses are those of IPv4.
      const lacksIPv6 = errorCode(error) === 'EAFNOSUPPORT' && address === '::';
      resolve(lacksIPv6 ? tryToListen('0.0.0.0', port) : (errorCode(error) ?? 'unknown'));
    });
    server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
