import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function run(args: readonly string[], input = ''): Promise<string> {
  const terminal = fakeTerminal({}, { input });
  assert.equal(await runProgram(args, terminal), 0, terminal.errors);
  return terminal.output;
}

/** Returns what bash offers after these words. */
async function complete(...words: string[]): Promise<string[]> {
  const file = join(temporaryDirectory('completion'), 'postrider.bash');
  writeFileSync(file, await run(['completion', 'bash']));
  const script = `source ${file}; COMP_WORDS=(postrider "$@"); COMP_CWORD=$#; _postrider; echo "\${COMPREPLY[*]}"`;
  return execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' })
    .trim()
    .split(' ');
}

test('bash completes commands, options and the values of options', async () => {
  assert.deepEqual(await complete('dom'), ['domain']);
  assert.ok((await complete('domain', '')).includes('verify'));
  assert.deepEqual(await complete('domain', 'list', '--sta'), ['--status']);
  assert.deepEqual(await complete('domain', 'list', '--status', 'v'), ['verified']);
  assert.deepEqual(await complete('domain', 'show', 'x.example', '--t'), ['--tenant']);
  assert.deepEqual(await complete('--json', 'queue', 'rel'), ['release']);
});

test('the scripts for zsh and fish have every command and option of the one for bash', async () => {
  const [zsh, fish] = [await run(['completion', 'zsh']), await run(['completion', 'fish'])];
  assert.match(zsh, /^#compdef postrider\n/);
  assert.match(
    zsh,
    /^ {4}'domain add'\) echo --tenant --product-type --region --ed25519 --config --json --help ;;$/m,
  );
  assert.match(
    fish,
    /^complete -c postrider -n '__postrider_at domain' -f -a 'add list show verify publish rotate-dkim delete records'$/m,
  );
  assert.match(
    fish,
    /^complete -c postrider -n '__postrider_in domain list' -l status -r -a 'pending verified /m,
  );
});

test('the manual page has every command', async () => {
  const page = await run(['man']);
  assert.match(page, /^\.SS postrider domain add <name>$/m);
  assert.match(page, /^\.B \\-\\-product\\-type <type>\n.* One of: api, mailbox, both\.$/m);
  const lines = page.split('\n').filter((line) => /^[.']/.test(line));
  assert.ok(
    lines.every((line) => /^\.(?:TH|SH|SS|TP|B|I)\b/.test(line)),
    lines.join('\n'),
  );
});

test('lines of the log are printed as text, from a level on', async () => {
  const input = [
    '{"level":"info","time":"T","msg":"mail delivered"}',
    '{"level":"error","time":"T","msg":"work failed"}',
    'of another program',
  ].join('\n');
  assert.equal(
    await run(['logs'], input),
    'T INFO  mail delivered\nT ERROR work failed\nof another program\n',
  );
  assert.equal(await run(['logs', '--level', 'warn'], input), 'T ERROR work failed\nof another program\n');
  const file = join(temporaryDirectory('logs'), 'log');
  writeFileSync(file, input);
  assert.match(await run(['logs', file]), /^T INFO {2}mail delivered$/m);
  assert.equal(await runProgram(['logs', '/none'], fakeTerminal()), 1);
});
