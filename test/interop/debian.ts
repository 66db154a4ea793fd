/**
 * The peers of these tests, as Debian packages. What is missing is installed; none of it is started as a service of
 * the machine, each test starts its own.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

/** A package, and the program that shows it is there. */
const PACKAGES: Record<string, string> = {
  postfix: '/usr/lib/postfix/sbin/master',
  opendkim: '/usr/sbin/opendkim',
  openssl: '/usr/bin/openssl',
  strace: '/usr/bin/strace',
  systemd: '/usr/bin/systemd-analyze',
};

/** Asked by every package before it starts a service; 101 forbids it (invoke-rc.d(8)). */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';

/** @throws Error with a sentence for a person when this machine cannot run the tests */
export function installPeers(): void {
  if (process.getuid?.() !== 0) {
    throw new Error('the interop tests start a real Postfix, which needs root: run them as root');
  }
  const missing = Object.entries(PACKAGES).flatMap(([name, program]) => (existsSync(program) ? [] : [name]));
  if (missing.length === 0) return;
  if (!existsSync('/usr/bin/apt-get')) {
    throw new Error(`the interop tests need ${missing.join(', ')}, and this machine has no apt-get`);
  }
  console.log(`installing ${missing.join(', ')}`);
  run('apt-get', ['-qq', 'update']);
  withoutServices(() => {
    if (missing.includes('postfix')) {
      run('debconf-set-selections', [], 'postfix postfix/main_mailer_type select No configuration\n');
    }
    run('apt-get', ['-qq', '-y', 'install', '--no-install-recommends', ...missing]);
  });
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
    stdio: ['pipe', 'ignore', 'inherit'],
  });
}
