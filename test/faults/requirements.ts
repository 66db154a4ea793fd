/** What this machine lacks for a part of the fault tests, in words; empty when the part can run. */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const MAKING_DISKS = ['mkfs.ext4', 'losetup', 'mount', 'umount'];

export function lackingForPowerCuts(): string[] {
  return [
    ...lackingToMount(['/dev/fuse', '/dev/loop-control']),
    ...lackingPrograms('cc', 'dd', ...MAKING_DISKS),
  ];
}

export function lackingForFullDisks(): string[] {
  return [...lackingToMount([]), ...lackingPrograms('mount', 'umount')];
}

export function lackingForReadOnly(): string[] {
  return [...lackingToMount(['/dev/loop-control']), ...lackingPrograms('e2fsck', 'findmnt', ...MAKING_DISKS)];
}

export function lackingForFailedFlushes(): string[] {
  return [...lackingRoot(), ...lackingPrograms('strace')];
}

export function lackingForMigrations(): string[] {
  return [...lackingToMount([]), ...lackingPrograms('fallocate', 'mount', 'strace', 'umount')];
}

export function lackingForFewFiles(): string[] {
  return [...lackingRoot(), ...lackingPrograms('prlimit')];
}

export function lackingForClockJumps(): string[] {
  return clockLibrary() === undefined ? ['libfaketime'] : [];
}

export function lackingForKills(): string[] {
  return process.platform === 'win32' ? ['signals'] : [];
}

/** Where Debian puts the one for programs with threads, on either architecture. */
export function clockLibrary(): string | undefined {
  return ['x86_64', 'aarch64']
    .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
    .find(exists);
}

function lackingToMount(devices: readonly string[]): string[] {
  const lacking = lackingRoot();
  if (lacking.length === 0 && !mayMount()) lacking.push('the right to mount (CAP_SYS_ADMIN)');
  return [...lacking, ...devices.filter((device) => !exists(device))];
}

function lackingRoot(): string[] {
  if (process.platform !== 'linux') return ['Linux'];
  return process.geteuid?.() === 0 ? [] : ['root'];
}

function lackingPrograms(...programs: readonly string[]): string[] {
  return programs.filter((program) => !isOnPath(program)).map((program) => `the program ${program}`);
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
