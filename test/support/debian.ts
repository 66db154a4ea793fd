/**
 * Installs the Debian packages of the mail servers and filters that tests talk to. No service of the machine is
 * started.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

/** Script that packages run before they start a service. Exit code 101 forbids the start (invoke-rc.d(8)). */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';

/**
 * Installs the packages that are missing. `programs` maps each package to a file that exists when it is installed.
 * Postfix is installed without a configuration.
 *
 * @returns the reason why a package is missing; undefined when all are installed
 */
export function installPackages(programs: Readonly<Record<string, string>>): string | undefined {
  const missing = Object.entries(programs).flatMap(([name, program]) => (existsSync(program) ? [] : [name]));
  if (missing.length === 0) return undefined;
  const wanted = `${missing.join(', ')} not installed`;
  if (!existsSync('/usr/bin/apt-get')) return `${wanted}, and this machine has no apt-get`;
  if (process.getuid?.() !== 0) return `${wanted}, and installing needs root`;
  console.error(`installing ${missing.join(', ')}`);
  try {
    run('apt-get', ['-qq', 'update']);
    run('debconf-set-selections', [], 'postfix postfix/main_mailer_type select No configuration\n');
    withoutServices(() => run('apt-get', ['-qq', '-y', 'install', '--no-install-recommends', ...missing]));
    return undefined;
  } catch (error) {
    const lines = String((error as { stderr?: unknown }).stderr ?? error)
      .trim()
      .split('\n');
    return `${wanted}, and apt-get failed: ${lines.at(-1)}`;
  }
}

function withoutServices(install: () => void): void {
  if (existsSync(SERVICE_POLICY)) {
    install();
    return;
  }
  writeFileSync(SERVICE_POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    install();
  } finally {
    rmSync(SERVICE_POLICY);
  }
}

function run(program: string, args: readonly string[], input = ''): void {
  execFileSync(program, args, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    input,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}
