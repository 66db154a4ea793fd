/**
 * Very many commands of the grammar of IMAP, some with slips, to sessions of an account. Each is completed once, in order, by well-formed
 * responses, and the memory of the process does not grow.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { startServer } from '../../mail/imap/fixture.ts';
import { findFaults, grammarCommand } from '../../mail/imap/grammar.ts';
import { mailOf } from '../../support/account-mail.ts';
import { createAccountApp, messageOf, openTestAccount } from '../../support/test-account.ts';
import type { Place, Result } from '../part.ts';

/** Commands of one connection, and connections for one account and one server, which are then made anew. */
const MAX_COMMANDS = 40;
const CONNECTIONS = 1_000;
const MAX_FAULTS = 20;
/** Share of the inputs after which the heap has its usual size. */
const WARM = 0.2;
/** Growth of the heap that is no leak: what the compiler and caches of a fixed size take. */
const MAX_GROWTH_MEGABYTES = 8;

export async function fuzzGrammar({ directory, seed, mailboxes: { inputs } }: Place): Promise<Result> {
  const faults: string[] = [];
  const heapMegabytes: number[] = [];
  const warm: number[] = [];
  let done = 0;
  for (let round = 0; done < inputs && faults.length < MAX_FAULTS; round++) {
    const folder = join(directory, `grammar-${round}`, 'mailboxes', 'mbx_1');
    done += await runRound(folder, { seed: seed + round, most: inputs - done, faults });
    rmSync(join(directory, `grammar-${round}`), { recursive: true });
    const megabytes = usedMegabytes();
    heapMegabytes.push(megabytes);
    if (done >= WARM * inputs) warm.push(megabytes);
  }
  const growth = (warm.at(-1) ?? 0) - (warm[0] ?? 0);
  if (growth > MAX_GROWTH_MEGABYTES) faults.push(`the heap has grown by ${growth.toFixed(1)} MB`);
  const sizes = heapMegabytes.map((size) => size.toFixed(1));
  const heap = `heap ${sizes[0]} MB after the first account, ${sizes.at(-1)} MB after ${sizes.length}`;
  return { lines: [`${done} commands; ${heap}`], faults };
}

type Round = { seed: number; most: number; faults: string[] };

/** Runs connections over a new account. Returns the number of commands. */
async function runRound(folder: string, { seed, most, faults }: Round): Promise<number> {
  const account = await openTestAccount(createAccountApp(), folder);
  const mail = mailOf(account);
  for (const subject of ['a', 'b', 'c']) await mail.deliver('INBOX', messageOf(subject));
  const ends: (() => Promise<void> | void)[] = [];
  const after = (end: unknown): void => void ends.push(end as () => Promise<void>);
  const server = await startServer({ after }, { mail, limits: { connectionsPerMinute: 1_000_000 } });
  let done = 0;
  try {
    const connections = fc.array(grammarCommand, { minLength: 1, maxLength: MAX_COMMANDS, size: 'max' });
    for (const commands of fc.sample(connections, { numRuns: CONNECTIONS, seed })) {
      faults.push(...(await findFaults(await server.open('SELECT INBOX'), commands)));
      done += commands.length;
      if (done >= most || faults.length >= MAX_FAULTS) break;
    }
    faults.push(...server.lines.map((line) => `logged: ${JSON.stringify(line)}`));
    return done;
  } finally {
    for (const end of ends) await end();
    await account.close();
  }
}

/** Returns the memory of the process that is in use after a collection of garbage. */
function usedMegabytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}
