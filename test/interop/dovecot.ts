/**
 * A real Dovecot that answers IMAP commands about messages. Its programs are unpacked into a folder of their own, and the one that
 * serves a logged-in user runs alone, without its daemon, its settings and a network. Needs root.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/daemon.ts';

const run = promisify(execFile);

const PACKAGES = ['dovecot-core', 'dovecot-imapd'];
/** nobody on Debian, as which the program runs. */
const NOBODY = '65534';
const TIMEOUT_MS = 60_000;

/** Asks for items of messages. */
export type Dovecot = {
  /** Returns the answers to `FETCH 1:* (item)`, for each item and message. */
  fetch(messages: readonly Buffer[], items: readonly string[]): Promise<string[][]>;
  /** Returns the untagged response of each command, such as SORT, that has exactly one. */
  ask(messages: readonly DatedMessage[], commands: readonly string[]): Promise<string[]>;
  /** Returns everything that a session without messages answers to commands that have tags. */
  converse(commands: string): Promise<string>;
};

/** `internalAt` is in Unix milliseconds, and whole seconds. */
export type DatedMessage = { octets: Buffer; internalAt: number };

/** Unpacks the programs. */
export async function unpackDovecot(): Promise<Dovecot> {
  const home = temporaryDirectory('dovecot');
  await chmod(home, 0o755);
  await run('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', ...PACKAGES], { cwd: home });
  await run('sh', ['-c', 'for file in *.deb; do dpkg -x "$file" .; done'], { cwd: home });
  return {
    async fetch(messages, items) {
      await fillMaildir(
        home,
        messages.map((octets) => ({ octets, internalAt: 0 })),
      );
      const commands = items.map((item, index) => `f${index} FETCH 1:* (${item})\r\n`);
      const output = await serve(home, `s EXAMINE INBOX\r\n${commands.join('')}l LOGOUT\r\n`);
      return readAnswers(output, items);
    },
    async ask(messages, commands) {
      await fillMaildir(home, messages);
      const lines = commands.map((command, index) => `f${index} ${command}\r\n`);
      const output = await serve(home, `s EXAMINE INBOX\r\n${lines.join('')}l LOGOUT\r\n`);
      const [, answers = ''] = output.split(/^s OK .*\r\n/m);
      return answers.split('\r\n').filter((line) => line.startsWith('* ') && !line.startsWith('* BYE'));
    },
    async converse(commands) {
      await fillMaildir(home, []);
      return await serve(home, `${commands}l LOGOUT\r\n`);
    },
  };
}

/** Replaces the messages of the user. */
async function fillMaildir(home: string, messages: readonly DatedMessage[]): Promise<void> {
  const maildir = join(home, 'mail');
  await rm(maildir, { recursive: true, force: true });
  for (const folder of ['cur', 'new', 'tmp']) await mkdir(join(maildir, folder), { recursive: true });
  for (const [index, { octets, internalAt }] of messages.entries()) {
    const file = join(maildir, 'cur', `${1_000_000 + index}.M1.test:2,S`);
    await writeFile(file, octets);
    await utimes(file, internalAt / 1_000, internalAt / 1_000);
  }
  await run('chown', ['-R', NOBODY, maildir]);
}

/** Answers commands. The input stays open until the program ends by itself: at its end, Dovecot drops answers that it has not sent. */
async function serve(home: string, input: string): Promise<string> {
  const libraries = join(home, 'usr/lib/dovecot');
  const program = [join(libraries, 'imap'), '-O', '-o', `mail_location=maildir:${home}/mail`];
  const identity = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const annotations = ['-o', 'imap_metadata=yes', '-o', `mail_attribute_dict=file:${home}/mail/attributes`];
  const server = spawn('setpriv', [...identity, ...program, ...annotations, '-o', 'first_valid_uid=1'], {
    cwd: '/',
    env: { LD_LIBRARY_PATH: libraries, USER: 'test', HOME: join(home, 'mail') },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
  });
  server.stdin.write(input);
  const output = (await buffer(server.stdout)).toString('latin1');
  assert.match(output, /\r\nl OK [^\r]*\r\n$/, 'every command was answered');
  return output;
}

/**
 * Returns, for each item, what the server answered for each message: the content of a section, or other text with
 * quoted strings instead of literals. Answers to several
 * commands may come before the first command is completed.
 */
function readAnswers(output: string, items: readonly string[]): string[][] {
  const names = items.map((item) => `${item.replace('.PEEK', '').replace(/^(ENVELOPE).*/, '$1')} `);
  const answers: string[][] = items.map(() => []);
  for (let at = 0; at < output.length; ) {
    let text = '';
    for (let isLiteral = true; isLiteral; ) {
      const end = output.indexOf('\r\n', at);
      const line = output.slice(at, end);
      const size = Number(/\{(\d+)\}$/.exec(line)?.[1] ?? -1);
      isLiteral = size >= 0;
      const content = output.slice(end + 2, end + 2 + size);
      const isSection = text === '' && line.includes(' FETCH (BODY[');
      const written = isSection ? content : `"${content.replace(/["\\]/g, '\\$&')}"`;
      text += isLiteral ? line.replace(/\{\d+\}$/, '') + written : line;
      at = end + 2 + Math.max(0, size);
    }
    const [, number, answer = ''] = /^\* (\d+) FETCH \(([\s\S]*)\)$/.exec(text) ?? [];
    const item = answers[names.findIndex((name) => answer.startsWith(name))];
    if (item) item[Number(number) - 1] = answer;
  }
  return answers;
}
