/** The suites of the client libraries, as commands. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type Suite = {
  /** Name of the folder below `sdk`. */
  language: string;
  /** The runtime that runs the suite, and its arguments. */
  command: readonly string[];
  env?: Record<string, string>;
  /** A program without which the suite is left out. */
  needs?: string;
};

const SDK = fileURLToPath(new URL('../../sdk/', import.meta.url));

export function folderOf({ language }: Pick<Suite, 'language'>): string {
  return `${SDK}${language}`;
}

/** Debian's packages, and the program that shows that each is there. */
export const PACKAGES = {
  'golang-go': '/usr/bin/go',
  'php8.2-cli': '/usr/bin/php8.2',
  'php8.2-curl': '/usr/share/doc/php8.2-curl/copyright',
  python3: '/usr/bin/python3',
};

const SUITES: readonly Suite[] = [
  { language: 'node', command: [process.execPath, 'test/main.mjs'] },
  // Node that is on the path is an older one than the project's own, on most machines.
  { language: 'node', command: ['node', 'test/main.mjs'] },
  {
    language: 'node',
    command: [process.execPath, 'test/elsewhere.mjs', 'deno', 'run', '--allow-all'],
    needs: 'deno',
  },
  { language: 'node', command: [process.execPath, 'test/elsewhere.mjs', 'bun', 'run'], needs: 'bun' },
  { language: 'python', command: ['/usr/bin/python3', 'tests/main.py'] },
  {
    language: 'go',
    command: ['go', 'run', './internal/contract'],
    env: { GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOPROXY: 'off' },
  },
  { language: 'php', command: ['/usr/bin/php8.2', 'tests/main.php'] },
];

/** Returns the suites of the languages that are there, or of one. */
export function suitesOf(only: string | undefined): Suite[] {
  return SUITES.filter((suite) => existsSync(folderOf(suite)))
    .filter(({ language }) => only === undefined || language === only)
    .filter(({ needs }) => needs === undefined || spawnSync(needs, ['--version']).status === 0);
}
