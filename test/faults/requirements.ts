/** What this machine lacks for a part of the fault tests, in words; empty when the part can run. */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const POWER_CUT_PROGRAMS = ['cc', 'mkfs.ext4', 'losetup', 'mount', 'umount', 'dd'];

export function lackingForPowerCuts(): string[] {
  if (process.platform !== 'linux') return ['Linux'];
  const lacking = process.geteuid?.() === 0 ? [] : ['root'];
  if (lacking.length === 0 && !mayMount()) lacking.push('the right to mount (CAP_SYS_ADMIN)');
  for (const device of ['/dev/fuse', '/dev/loop-control']) {
    if (!exists(device)) lacking.push(device);
  }
  const missing = POWER_CUT_PROGRAMS.filter((program) => !isOnPath(program));
  return [...lacking, ...missing.map((program) => `the program ${program}`)];
}

export function lackingForKills(): string[] {
  return process.platform === 'win32' ? ['signals'] : [];
}

/** Root in a container often may not. capabilities(7): CAP_SYS_ADMIN is number 21. */
function mayMount(): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> 21n) & 1n) === 1n;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
