/** A process that opens files until none is left, and then asks DNS (run by dns.test.ts). Its one argument is the server. */
import { closeSync, openSync } from 'node:fs';
import { realClock } from '../../../src/system/clock.ts';
import { createDns, type DnsAnswer } from '../../../src/system/dns.ts';
import { errorCode } from '../../../src/system/errors.ts';

const dns = createDns({ clock: realClock, servers: process.argv.slice(2) });

async function ask(name: string): Promise<object> {
  const answer: DnsAnswer<string> = await dns.a(name);
  return answer.kind === 'found' ? { kind: answer.kind, records: answer.records } : answer;
}

const before = await ask('a.example');
const files: number[] = [];
try {
  for (;;) files.push(openSync('/dev/null', 'r'));
} catch (error) {
  if (errorCode(error) !== 'EMFILE') throw error;
}
const without = await ask('b.example');
for (const file of files) closeSync(file);
process.stdout.write(JSON.stringify({ before, without, after: await ask('c.example') }));
