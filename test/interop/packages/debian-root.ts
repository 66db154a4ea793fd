/** Root file systems of Debian in which packages are tried. */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../support/daemon.ts';
import { installPackages } from '../../support/debian.ts';
import { CACHE } from './build.ts';

const run = promisify(execFile);

const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
const RELEASE = 'bookworm';
/** Made once, and copied for each test. It has systemd, on which the package depends, and nothing else beyond the minimum. */
const BOOTSTRAPPED = join(CACHE, RELEASE);

/** @throws Error with a sentence for a person when this machine cannot run the tests */
export function installTools(): void {
  const lacking = installPackages({
    buildah: '/usr/bin/buildah',
    debootstrap: '/usr/sbin/debootstrap',
    'qemu-user-static': '/usr/bin/qemu-aarch64-static',
  });
  if (lacking !== undefined) throw new Error(`the tests of the packages cannot run: ${lacking}`);
}

/** Returns the folder of a fresh Debian without anything of ours. */
export function freshDebian(): string {
  if (!existsSync(BOOTSTRAPPED)) bootstrap();
  const root = join(temporaryDirectory('debian'), 'root');
  execFileSync('cp', ['--archive', '--reflink=auto', BOOTSTRAPPED, root]);
  copyFileSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'));
  return root;
}

function bootstrap(): void {
  mkdirSync(CACHE, { recursive: true });
  const making = `${BOOTSTRAPPED}.${process.pid}`;
  try {
    execFileSync('debootstrap', ['--variant=minbase', '--include=systemd', RELEASE, making], {
      stdio: 'ignore',
    });
    renameSync(making, BOOTSTRAPPED);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Runs a program in the root, and returns its output. */
export async function runIn(root: string, program: string, ...args: string[]): Promise<string> {
  const env = { PATH, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const { stdout } = await run('chroot', [root, program, ...args], { env });
  return stdout;
}

/** Writes a program that runs `command` in the root, where it sees the processes of the machine, and returns its path. */
export function programIn(root: string, command: string): string {
  const path = join(temporaryDirectory('program'), 'program');
  const mountAndRun = `mount -t proc proc '${root}/proc' && exec chroot '${root}' ${command} "$@"`;
  writeFileSync(
    path,
    `#!/bin/sh\nexec unshare --mount sh -c '${mountAndRun.replaceAll("'", `'\\''`)}' sh "$@"\n`,
    {
      mode: 0o755,
    },
  );
  return path;
}
