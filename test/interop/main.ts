/** `npm run test:interop`: installs the real peers where they are missing, then runs every test beside this file. */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { installPeers } from './debian.ts';

try {
  installPeers();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const files = globSync('*.test.ts', { cwd: import.meta.dirname }).sort();
const { status, signal } = spawnSync(
  process.execPath,
  [
    '--import',
    'tsx',
    '--test',
    '--test-reporter=spec',
    ...files.map((file) => `${import.meta.dirname}/${file}`),
  ],
  { stdio: 'inherit' },
);
if (signal !== null) console.error(`the tests ended by ${signal}`);
process.exit(status ?? 1);
