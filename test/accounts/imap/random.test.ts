/**
 * Several sessions of one folder run random commands, and each client keeps what it was told. Every response must fit to that, and
 * in the end all clients know the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestClient } from '../../mail/imap/fixture.ts';
import { message, openerOf } from '../../mail/imap/letter.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { createRandom } from '../../support/random.ts';

const mail = await createAccountMail();
const open = openerOf(mail);
const FLAGS = ['\\Seen', '\\Flagged', '\\Deleted', '$a', '$b'];

type Known = { uid: number | undefined; flags: Set<string> | undefined };

/** Client that remembers messages by sequence number. */
class Mirror {
  readonly known: Known[] = [];
  readonly recent = new Set<number>();
  readonly #client: TestClient;

  constructor(client: TestClient) {
    this.#client = client;
  }

  async run(command: string): Promise<void> {
    const lines = await this.#client.ask(command);
    assert.match(lines.at(-1) ?? '', /^(?:OK|BAD A sequence number)/, command);
    const keepsNumbers = /^(?:FETCH|STORE|SEARCH)/.test(command);
    for (const line of lines.slice(0, -1)) {
      assert.ok(!(keepsNumbers && line.includes('EXPUNGE')), `${command}: ${line}`);
      this.#learn(line);
    }
    const silent = /^STORE (\d+):(\d+) ([+-])FLAGS.SILENT (\S+)$/.exec(command);
    if (silent && lines.at(-1)?.startsWith('OK')) this.#change(silent);
  }

  #learn(line: string): void {
    const [, number = '', name = '', rest = ''] = /^\* (\d+) (\w+)(.*)$/s.exec(line) ?? [];
    const index = Number(number) - 1;
    if (name === 'EXPUNGE') {
      assert.ok(index < this.known.length, line);
      this.known.splice(index, 1);
    } else if (name === 'EXISTS') {
      assert.ok(Number(number) >= this.known.length, `${line} after ${this.known.length}`);
      while (this.known.length < Number(number)) this.known.push({ uid: undefined, flags: undefined });
    } else if (name === 'FETCH') this.#fetched(index, rest);
  }

  #fetched(index: number, items: string): void {
    const one = this.known[index];
    assert.ok(one, `a response about message ${index + 1} of ${this.known.length}`);
    const uid = /UID (\d+)/.exec(items)?.[1];
    if (uid !== undefined) {
      assert.ok(one.uid === undefined || one.uid === Number(uid), `message ${index + 1} has UID ${uid}`);
      one.uid = Number(uid);
    }
    const flags = /FLAGS \(([^)]*)\)/
      .exec(items)?.[1]
      ?.split(' ')
      .filter((flag) => flag !== '');
    if (!flags) return;
    if (flags.includes('\\Recent') && one.uid !== undefined) this.recent.add(one.uid);
    one.flags = new Set(flags.filter((flag) => flag !== '\\Recent'));
  }

  #change([, from, to, sign, flag = '']: RegExpExecArray): void {
    for (let index = Number(from) - 1; index < Number(to); index++) {
      const flags = this.known[index]?.flags;
      if (sign === '+') flags?.add(flag);
      else flags?.delete(flag);
    }
  }

  /** Returns what the client knows, in a form that can be compared. */
  summary(): string[] {
    return this.known.map(({ uid, flags }) => `${uid} ${[...(flags ?? [])].sort().join(' ')}`);
  }
}

async function runRound(t: Parameters<typeof open>[0], seed: number): Promise<void> {
  const random = createRandom(seed);
  const { mailbox, client, connect, deliver } = await open(t, ['a', 'b', 'c']);
  const clients = [client, await connect(), await connect()];
  const mirrors = clients.map((one) => new Mirror(one));
  for (const mirror of mirrors) {
    mirror.known.push(...Array.from({ length: 3 }, () => ({ uid: undefined, flags: undefined })));
    await mirror.run('FETCH 1:* (UID FLAGS)');
  }
  for (let step = 0; step < 150; step++) {
    const mirror = mirrors[random(mirrors.length)] as Mirror;
    const count = mirror.known.length;
    const from = 1 + random(Math.max(count, 1));
    const range = `${from}:${Math.min(from + random(3), Math.max(count, 1))}`;
    const flag = FLAGS[random(FLAGS.length)];
    const commands = [
      'NOOP',
      'EXPUNGE',
      'SEARCH ALL',
      `FETCH ${range} (UID FLAGS)`,
      `FETCH ${range} (UID BODY[TEXT])`,
      `STORE ${range} +FLAGS ${flag}`,
      `STORE ${range} -FLAGS ${flag}`,
      `STORE ${range} FLAGS (${flag})`,
      `STORE ${range} +FLAGS.SILENT ${flag}`,
      `STORE 1:${Math.max(count, 1)} +FLAGS ${flag}`,
      `STORE 1:${Math.max(count, 1)} -FLAGS ${flag}`,
      `COPY ${range} ${mailbox}`,
      `MOVE ${from} ${mailbox}`,
    ];
    if (random(8) === 0) await deliver(message(`${step}`));
    else await mirror.run(commands[random(commands.length)] as string);
  }
  for (const mirror of mirrors) await mirror.run('NOOP');
  for (const mirror of mirrors) {
    // New messages are told by their number alone.
    const unknown = mirror.known.flatMap(({ uid, flags }, index) => (uid && flags ? [] : [index + 1]));
    if (unknown.length > 0) await mirror.run(`FETCH ${unknown.join()} (UID FLAGS)`);
  }
  const summaries = mirrors.map((mirror) => mirror.summary());
  for (const mirror of mirrors) {
    if (mirror.known.length > 0) await mirror.run('FETCH 1:* (UID FLAGS)');
    assert.deepEqual(mirror.summary(), summaries[0], `seed ${seed}`);
  }
  for (const summary of summaries) assert.deepEqual(summary, summaries[0], `seed ${seed}`);
  const recent = mirrors.flatMap((mirror) => [...mirror.recent]);
  assert.equal(new Set(recent).size, recent.length, `seed ${seed}: a message is recent twice`);
}

test('what clients were told agrees with the folder, whatever several sessions do', async (t) => {
  for (let seed = 1; seed <= 6; seed++) await runRound(t, seed);
});
