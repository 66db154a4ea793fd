/** Debian's zsh and fish load the scripts of the completion, and its groff the manual page. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Writes the output of a command into a file, and returns its path. */
async function write(...args: string[]): Promise<string> {
  const terminal = fakeTerminal();
  assert.equal(await runProgram(args, terminal), 0, terminal.errors);
  const file = join(temporaryDirectory('shells'), args.at(-1) ?? '');
  writeFileSync(file, `${terminal.output}\n`);
  return file;
}

test('zsh loads its script without a word, and completes by it', async () => {
  const file = await write('completion', 'zsh');
  // The options are those with which bashcompinit calls a function of bash.
  const script = `autoload -Uz compinit && compinit -u -D && source ${file}
    echo "$_comps[postrider]"
    COMP_WORDS=(postrider queue rel); COMP_CWORD=2
    () { emulate -L sh; setopt kshglob noshglob braceexpand nokshautoload; _postrider; }; print -r -- "$COMPREPLY"`;
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8' });
  assert.equal(stderr, '');
  const [by, words] = stdout.trim().split('\n');
  assert.match(by ?? '', /_postrider|bashcomp/);
  // zsh itself leaves out what does not begin with `rel`.
  assert.ok(words?.split(' ').includes('release'), words);
  assert.ok(!words?.split(' ').includes('setup'));
});

test('fish loads its script without a word, and completes by it', async () => {
  const file = await write('completion', 'fish');
  const offered = (line: string) => {
    const script = `source ${file}; complete -C ${JSON.stringify(line)}`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' });
    assert.equal(stderr, '');
    return stdout
      .trim()
      .split('\n')
      .map((word) => word.split('\t')[0]);
  };
  assert.deepEqual(offered('postrider queue rel'), ['release']);
  assert.ok(offered('postrider domain ').includes('verify'));
  assert.deepEqual(offered('postrider domain list --status v'), ['verified']);
});

test('groff renders the manual page without a warning', async () => {
  const file = await write('man');
  const { stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', file], {
    encoding: 'utf8',
    maxBuffer: 2 ** 24,
  });
  assert.equal(stderr, '');
  // A letter, a backspace and the letter again are a bold letter.
  const text = stdout.replaceAll(/.[\b]/g, '');
  assert.match(text, /^NAME$/m);
  assert.match(text, /postrider domain add <name>/);
  assert.ok(execFileSync('groff', ['-man', '-Tps', file], { maxBuffer: 2 ** 26 }).length > 10_000);
});
