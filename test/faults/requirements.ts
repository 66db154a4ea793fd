/** What this machine lacks for a part of the fault tests, in words; empty when the part can run. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const POWER_CUT_PROGRAMS = ['cc', 'mkfs.ext4', 'losetup', 'mount', 'umount', 'dd'];

export function lackingForPowerCuts(): string[] {
  if (process.platform !== 'linux') return ['Linux'];
  const lacking = process.geteuid?.() === 0 ? [] : ['root'];
  for (const device of ['/dev/fuse', '/dev/loop-control']) {
    if (!exists(device)) lacking.push(device);
  }
  const missing = POWER_CUT_PROGRAMS.filter((program) => !isOnPath(program));
  return [...lacking, ...missing.map((program) => `the program ${program}`)];
}

export function lackingForKills(): string[] {
  return process.platform === 'win32' ? ['signals'] : [];
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
