/**
 * `npm run test:sdks [-- --only LANGUAGE]`: runs the suites of the client libraries, each against a daemon of its own in test mode and against the
 * scripted server, and prints their counts as Node's test runner does.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startDaemonProcess } from '../support/daemon.ts';
import { installPackages } from '../support/debian.ts';
import { folderOf, PACKAGES, type Suite, suitesOf } from './languages.ts';
import { startScriptedServer } from './scripted-server.ts';

type Counts = { tests: number; pass: number; fail: number };

const SUITE_MS = 5 * 60_000;
/** Most of a suite is waiting: for pauses, time limits and the daemon. */
const AT_A_TIME = 3;
const HOSTNAME = 'localhost';
const CONTRACT = fileURLToPath(new URL('../../sdk/contract/', import.meta.url));

const { values } = parseArgs({ options: { only: { type: 'string' } } });
execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
const lacking = installPackages(PACKAGES);
if (lacking !== undefined) console.error(`Some suites cannot run: ${lacking}`);
const suites = suitesOf(values.only);
if (suites.length === 0) console.error(`There is no library for ${values.only}.`);
// Its suites run at once in several runtimes, and none may build what another one reads.
if (suites.some(({ language }) => language === 'node'))
  execFileSync(process.execPath, ['build.mjs'], { cwd: folderOf({ language: 'node' }) });

await using scripted = await startScriptedServer();
const total: Counts = { tests: 0, pass: 0, fail: 0 };
const left = [...suites];
await Promise.all(Array.from({ length: AT_A_TIME }, runNext));
for (const [name, count] of Object.entries(total)) console.log(`ℹ ${name} ${count}`);
process.exitCode = lacking === undefined && suites.length > 0 && total.fail === 0 && total.tests > 0 ? 0 : 1;

async function runNext(): Promise<void> {
  for (let suite = left.shift(); suite; suite = left.shift()) {
    const { lines, counts } = await run(suite, scripted.address);
    const result = `${suite.language} (${suite.needs ?? suite.command[0]}): ${counts.pass} of ${counts.tests} passed`;
    console.log([...lines, result].join('\n'));
    for (const name of ['tests', 'pass', 'fail'] as const) total[name] += counts[name];
  }
}

/** Runs a suite. One that ends without its counts has failed. */
async function run(suite: Suite, serverAddress: string): Promise<Ended> {
  const daemon = await startDaemonProcess({ env: { POSTRIDER_SMTP_PORT: '0' } });
  try {
    const [program = '', ...args] = suite.command;
    const child = spawn(program, args, {
      cwd: folderOf(suite),
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: SUITE_MS,
      env: {
        ...process.env,
        ...suite.env,
        CONTRACT_BASE_URL: daemon.address,
        CONTRACT_KEY: daemon.testKey ?? '',
        CONTRACT_HOSTNAME: HOSTNAME,
        CONTRACT_SERVER: serverAddress,
        CONTRACT_DIR: CONTRACT,
      },
    });
    let output = '';
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return countsOf(output, code);
  } finally {
    await daemon.stop();
  }
}

type Ended = { lines: string[]; counts: Counts };

function countsOf(output: string, code: number | null): Ended {
  const lines = output.trimEnd().split('\n');
  try {
    const counts = JSON.parse(lines.at(-1) ?? '') as Counts;
    const isWhole = code === 0 || counts.fail > 0;
    const fail = counts.fail + (isWhole ? 0 : 1);
    return { lines: lines.slice(0, -1), counts: { ...counts, tests: counts.pass + fail, fail } };
  } catch {
    return { lines, counts: { tests: 1, pass: 0, fail: 1 } };
  }
}
