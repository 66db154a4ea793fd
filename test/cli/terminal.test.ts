import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const MODULE = new URL('../../src/cli/terminal.ts', import.meta.url).href;

/** Stands for a daemon whose drain takes for ever. */
const PROGRAM = `
  const { processTerminal } = await import(${JSON.stringify(MODULE)});
  const { createServer } = await import('node:net');
  createServer().listen(0);
  const terminal = processTerminal(Number(process.argv[1]));
  const stopped = terminal.untilStopped();
  process.on('SIGINT', () => terminal.print('interrupted'));
  terminal.print('ready');
  await stopped;
  terminal.print('draining');
`;

function runModule(text: string, ...args: string[]) {
  return spawn(process.execPath, ['--input-type=module', '-e', text, ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
}

test('the first signal asks the program to end, and the second one ends it', async () => {
  const child = runModule(PROGRAM, '0');
  const exit = once(child, 'exit');
  let output = '';
  const answers: [string, NodeJS.Signals][] = [
    ['ready\n', 'SIGTERM'],
    ['ready\ndraining\n', 'SIGINT'],
  ];
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
    const [, signal] = answers.find(([seen]) => seen === output) ?? [];
    if (signal) child.kill(signal);
  });
  assert.deepEqual(await exit, [130, null]);
  assert.equal(output, 'ready\ndraining\n');
});

test('a signal that arrives twice at once, as with Ctrl-C on `npm start`, counts once', async () => {
  const child = runModule(PROGRAM, '60000');
  const exit = once(child, 'exit');
  let output = '';
  const answers: [string, NodeJS.Signals][] = [
    ['ready\n', 'SIGTERM'],
    ['ready\ndraining\n', 'SIGINT'],
    ['ready\ndraining\ninterrupted\n', 'SIGKILL'],
  ];
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
    const [, signal] = answers.find(([seen]) => seen === output) ?? [];
    if (signal) child.kill(signal);
  });
  assert.deepEqual(await exit, [null, 'SIGKILL']);
});

test('a reader that stops early, as `head` does, causes no error', async () => {
  const child = runModule(`
    const { processTerminal } = await import(${JSON.stringify(MODULE)});
    const terminal = processTerminal();
    for (let line = 0; line < 3; line++) {
      terminal.print('more');
      await new Promise(setImmediate);
    }
  `);
  child.stdout.destroy();
  let errors = '';
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
  assert.deepEqual([await once(child, 'close'), errors], [[0, null], '']);
});

/** Writes without end, as a command does that prints a large message. */
const WRITER = `
  const { processTerminal } = await import(${JSON.stringify(MODULE)});
  const terminal = processTerminal();
  let isClosed = false;
  async function* bytes() {
    try {
      for (;;) yield Buffer.alloc(65536, 'x');
    } finally {
      isClosed = true;
    }
  }
  await terminal.write(bytes());
  terminal.complain(String(isClosed));
`;

test('bytes are written until the reader has read enough, and their source is closed', async () => {
  const child = runModule(WRITER);
  let errors = '';
  child.stderr.on('data', (part: Buffer) => {
    errors += part.toString();
  });
  child.stdout.once('data', () => child.stdout.destroy());
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(errors, 'true\n');
});

test('without a person, a password is the first line of standard input without its end', async () => {
  const program = `
    const { processTerminal } = await import(${JSON.stringify(MODULE)});
    const terminal = processTerminal();
    terminal.print(JSON.stringify(await terminal.readPassword('Password: ')));
  `;
  for (const [input, line] of [
    ['correct horse\r\nbattery', 'correct horse'],
    ['no end', 'no end'],
    ['', ''],
  ] as const) {
    const child = runModule(program);
    child.stdin.end(input);
    let output = '';
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString();
    });
    await once(child, 'close');
    assert.equal(output, `${JSON.stringify(line)}\n`);
  }
});

/** Runs a module at a pseudo-terminal. Each answer is typed once the text before it is seen. */
async function typeInto(text: string, ...typed: [seen: string, answer: string][]): Promise<string> {
  const command = `"${process.execPath}" --input-type=module -e "$PROGRAM"`;
  const child = spawn('script', ['--quiet', '--command', command, '/dev/null'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, PROGRAM: text, SHELL: '/bin/sh' },
  });
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
    const [next] = typed;
    if (!next || !output.includes(next[0])) return;
    typed.shift();
    child.stdin.write(next[1]);
  });
  await once(child, 'close');
  return output;
}

const ASKER = `
  const { processTerminal } = await import(${JSON.stringify(MODULE)});
  const terminal = processTerminal();
  try {
    const password = await terminal.readPassword('Password: ');
    terminal.print(String(password === 'correct horse'));
    terminal.print(await terminal.ask('And you? '));
  } catch (error) {
    terminal.print(error.name);
  }
`;

test('a password is not shown while a person types it, and other answers are', async () => {
  const output = await typeInto(ASKER, ['Password: ', 'correct horse\r'], ['And you? ', 'a person\r']);
  assert.match(output, /^Password: \r\ntrue\r\n.*And you\? .*a person/s);
  assert.doesNotMatch(output, /correct|horse/);
});

test('Ctrl-C at a question ends the command without an error of the program', async () => {
  assert.match(await typeInto(ASKER, ['Password: ', 'correct\u0003']), /^Password: \r\nCommandError\r\n$/);
  const asked = await typeInto(ASKER, ['Password: ', 'x\r'], ['And you? ', '\u0003']);
  assert.match(asked, /CommandError/);
});
