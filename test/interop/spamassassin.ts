/** Runs a real SpamAssassin, once for each message, with the rules of its package and without network lookups. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryDirectory } from '../support/daemon.ts';

const PROGRAM = '/usr/bin/spamassassin';

/** Returns the names of the rules that a delivered message triggers. */
export async function spamassassinRules(message: string): Promise<Set<string>> {
  const home = temporaryDirectory('spamassassin');
  const child = spawn(PROGRAM, ['--local', '--nocreate-prefs', '--prefspath', join(home, 'prefs')], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(Buffer.from(message, 'latin1'));
  const [written, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  const output = written.replaceAll('\r\n', '\n');
  const status = /^X-Spam-Status:(.*(?:\n[ \t].*)*)/m.exec(output)?.[1]?.replace(/\n[ \t]+/g, '');
  const rules = /tests=(\S+)/.exec(status ?? '')?.[1];
  if (code !== 0 || rules === undefined)
    throw new Error(`SpamAssassin ended with ${code}: ${errors}${output}`);
  return new Set(rules.split(','));
}
