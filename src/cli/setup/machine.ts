/** Checks the machine itself, without a look at the network: memory, disk, clock and ports. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../config/config.ts';
import { type Finding, findingsOf } from '../../doctor/check.ts';
import { disk } from '../../doctor/checks/disk.ts';
import { memory } from '../../doctor/checks/memory.ts';
import { isoTime, realClock, sleepInForeground } from '../../system/clock.ts';
import { statDisk } from '../../system/disk-space.ts';
import { errorCode } from '../../system/errors.ts';
import { findPortHolder, type PortHolder } from '../../system/port-holder.ts';

const run = promisify(execFile);
const clockFinding = findingsOf('clock');
const portFinding = findingsOf('ports');

/** Returns the findings. `isRunning` says that our own daemon has the ports. */
export async function checkMachine(config: Config, isRunning: boolean): Promise<Finding[]> {
  return [
    ...(await memory.run()),
    ...(await disk.run({ config, statDisk: (path) => statDisk(nearestFolder(path)) })),
    await checkClock(),
    ...(isRunning
      ? [portFinding.ok('this machine', 'the daemon runs, and has its ports')]
      : await checkPorts(config)),
  ];
}

/** Returns the folder, or the one above it that exists: the data directory may not have been made yet. */
function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Maximum time of the question whether the clock is set by NTP, in milliseconds. */
const CLOCK_TIMEOUT_MS = 3_000;

/** Asks systemd whether NTP keeps the clock right. The kernel knows it of every NTP program. */
async function checkClock(): Promise<Finding> {
  const shown = `it shows ${isoTime(realClock.now())}`;
  const asked = run('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
    timeout: CLOCK_TIMEOUT_MS,
  });
  const answer = await asked.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  if (answer === 'no')
    return clockFinding.warn('clock', `${shown}, and NTP does not set it`, 'timedatectl set-ntp true');
  return clockFinding.ok('clock', answer === 'yes' ? `${shown}, set by NTP` : shown);
}

type WantedPort = { address: string; port: number; setting: string };

/** Returns the TCP ports that the daemon is to listen on. Port 0 takes any free one. */
function portsOf({
  http,
  https,
  smtp,
  submission,
  imap,
  pop3,
  managesieve,
  nameserver,
}: Config): WantedPort[] {
  const at = ({ address }: { address: string }, port: number, setting: string) => ({
    address,
    port,
    setting,
  });
  const all = [
    at(smtp, smtp.port, 'smtp.port'),
    at(http, http.port, 'http.port'),
    ...(https.enabled
      ? [at(https, https.redirectPort, 'https.redirectPort'), at(https, https.port, 'https.port')]
      : []),
    ...(submission.enabled
      ? [
          at(submission, submission.tlsPort, 'submission.tlsPort'),
          at(submission, submission.port, 'submission.port'),
        ]
      : []),
    at(imap, imap.port, 'imap.port'),
    at(pop3, pop3.port, 'pop3.port'),
    at(managesieve, managesieve.port, 'managesieve.port'),
    ...(nameserver.enabled
      ? nameserver.addresses.map((address) => at({ address }, nameserver.port, 'nameserver.port'))
      : []),
  ];
  return all.filter(({ port }) => port !== 0);
}

/** Time after which busy ports are tried again, in milliseconds: the daemon of a set-up that was killed closes them at once. */
const RETRY_MS = 2_000;

async function checkPorts(config: Config): Promise<Finding[]> {
  const wanted = portsOf(config);
  const look = async () => (await Promise.all(wanted.map(checkPort))).flatMap((finding) => finding ?? []);
  if ((await look()).length > 0) await sleepInForeground(RETRY_MS);
  const failed = await look();
  if (failed.length > 0) return failed;
  return [portFinding.ok('this machine', `${wanted.map(({ port }) => port).join(' ')} are free`)];
}

async function checkPort({ address, port, setting }: WantedPort): Promise<Finding | undefined> {
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
