/** `npm run package`: builds the tarball and the Debian package of each architecture (packaging/README.md). */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type DebOptions, debName, writeDeb } from './deb.ts';
import type { Architecture } from './node.ts';
import { writeTarball } from './tarball.ts';
import { writeTree } from './tree.ts';

const ROOT = join(import.meta.dirname, '..');
const ARCHITECTURES: readonly Architecture[] = ['x64', 'arm64'];
const KINDS = ['tarball', 'deb'] as const;

const { values } = parseArgs({
  options: {
    arch: { type: 'string', multiple: true, default: [...ARCHITECTURES] },
    kind: { type: 'string', multiple: true, default: [...KINDS] },
    revision: { type: 'string', default: '1' },
    output: { type: 'string', default: join(ROOT, 'packages') },
  },
});
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const output = resolve(values.output);
const epoch = sourceDateEpoch();

execFileSync(process.execPath, [join(ROOT, 'bin/build.ts')], { stdio: 'inherit' });
mkdirSync(output, { recursive: true });
for (const architecture of chosen(ARCHITECTURES, values.arch)) {
  for (const kind of chosen(KINDS, values.kind)) report(build(kind, architecture));
}

/** Builds a package, and returns its file. */
function build(kind: (typeof KINDS)[number], architecture: Architecture): string {
  const making = mkdtempSync(join(output, '.making-'));
  try {
    if (kind === 'deb') {
      const options: DebOptions = { architecture, version: `${version}-${values.revision}`, epoch };
      const file = join(output, debName(options));
      writeDeb(join(making, 'package'), file, options);
      return file;
    }
    const name = `postrider-${version}-linux-${architecture}`;
    const file = join(output, `${name}.tar.gz`);
    writeTree(join(making, name), architecture);
    writeTarball(join(making, name), file, epoch);
    return file;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

function report(file: string): void {
  process.stdout.write(`${file} (${Math.ceil(statSync(file).size / 1_000_000)} MB)\n`);
}

/** Returns the values in a list of choices. */
function chosen<Choice extends string>(choices: readonly Choice[], named: readonly string[]): Choice[] {
  const wrong = named.find((name) => !choices.some((choice) => choice === name));
  if (wrong !== undefined) throw new Error(`"${wrong}" is none of ${choices.join(', ')}`);
  return choices.filter((choice) => named.includes(choice));
}

/** Returns the time that all files of a package have, in Unix seconds: of the variable, or else of the last commit. */
function sourceDateEpoch(): number {
  const given = process.env['SOURCE_DATE_EPOCH'];
  const text = given ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' });
  const seconds = Number(text.trim());
  if (!Number.isInteger(seconds)) throw new Error('SOURCE_DATE_EPOCH must be a time in Unix seconds');
  return seconds;
}
