/** An IMAP client that reads a whole mailbox, and makes one change after the other, some of them by POP3. What it asks for and is told goes to `Told`. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { createClient, type TestClient } from '../../mail/imap/fixture.ts';
import { type FoundFolder, type FoundMessage, raise, settleOpen, type Told } from './audit.ts';
import { messageOf, tokenIn } from './letter.ts';
import { deleteByPop3 } from './maildrop.ts';
import { type Change, flagsOf } from './model.ts';

/** Reports that the connection ended, so that the outcome of the last command is not known. */
export class ConnectionEnded extends Error {
  override readonly name = 'ConnectionEnded';
}

/** An answer that must not come under load. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const REPLY_TIMEOUT_MS = 30_000;

export class MailboxClient {
  readonly #client: TestClient;
  #selected: { name: string; uidValidity: number } | undefined;

  readonly #deleteByPop3: (uids: readonly number[]) => Promise<string>;

  private constructor(client: TestClient, deleteMessages: (uids: readonly number[]) => Promise<string>) {
    this.#client = client;
    this.#deleteByPop3 = deleteMessages;
  }

  /** @throws ConnectionEnded, Refused */
  static async open(
    ports: { imap: number; pop3: number },
    login: { address: string; password: string },
  ): Promise<MailboxClient> {
    const socket = connect({ host: '127.0.0.1', port: ports.imap, noDelay: true });
    socket.setTimeout(REPLY_TIMEOUT_MS, () => socket.destroy());
    const client = new MailboxClient(createClient(socket), (uids) => deleteByPop3(ports.pop3, login, uids));
    if ((await client.#client.line()) === 'closed') throw new ConnectionEnded();
    await client.#ask(`LOGIN ${login.address} "${login.password}"`);
    return client;
  }

  close(): void {
    this.#client.socket.destroy();
  }

  /** Reads all folders with all messages. */
  async read(): Promise<FoundFolder[]> {
    const listed = await this.#ask('LIST "" *');
    const names = listed.flatMap((line) => /^\* LIST \(.*?\) "\/" "?([^"]+)"?$/.exec(line)?.[1] ?? []);
    const folders: FoundFolder[] = [];
    for (const name of names) folders.push(await this.#readFolder(name));
    return folders;
  }

  /** Makes a change. It is open in `told` until its answer has come. */
  async change(told: Told, change: Change): Promise<void> {
    if ('uids' in change || change.kind === 'expunge') await this.#select(change.folder);
    else if (change.kind !== 'append') await this.#unselect();
    told.open = change;
    const lines =
      change.kind === 'quit' ? await this.#quit(change.uids) : await this.#ask(...commandOf(change));
    const floors = new Map(told.floors);
    settleOpen(told, { floors, uids: this.#note(told, lines) });
  }

  async #readFolder(name: string): Promise<FoundFolder> {
    await this.#select(name);
    const fetched = await this.#ask('UID FETCH 1:* (UID FLAGS MODSEQ BODY.PEEK[])');
    // Letters come in meanwhile, so the numbers are asked for afterwards.
    const status = await this.#ask(`STATUS ${name} (UIDVALIDITY UIDNEXT HIGHESTMODSEQ)`);
    const number = (item: string) => Number(new RegExp(`${item} (\\d+)`).exec(status.join('\n'))?.[1]);
    return {
      name,
      uidValidity: number('UIDVALIDITY'),
      uidNext: number('UIDNEXT'),
      highestModseq: number('HIGHESTMODSEQ'),
      messages: fetched.flatMap((line) => readMessage(line) ?? []),
    };
  }

  async #select(name: string): Promise<void> {
    const lines = await this.#ask(`SELECT ${name} (CONDSTORE)`);
    this.#selected = { name, uidValidity: Number(/\[UIDVALIDITY (\d+)\]/.exec(lines.join('\n'))?.[1]) };
  }

  /** Folders are changed in a state without a selected one. */
  async #unselect(): Promise<void> {
    if (this.#selected) await this.#ask('UNSELECT');
    this.#selected = undefined;
  }

  /** Notes the numbers in an answer. Returns the UIDs of new messages. */
  #note(told: Told, lines: readonly string[]): number[] {
    const text = lines.join('\n');
    const modseqs = [...text.matchAll(/MODSEQ \(?(\d+)/g)].map(([, modseq]) => Number(modseq));
    if (this.#selected && modseqs.length > 0)
      raise(told, this.#selected.uidValidity, { highestModseq: Math.max(...modseqs) });
    const [, uidValidity, set = ''] =
      /\[(?:APPENDUID|COPYUID) (\d+) (?:[\d:,]+ )?([\d:,]+)\]/.exec(text) ?? [];
    if (uidValidity === undefined) return [];
    const uids = numbersIn(set);
    raise(told, Number(uidValidity), { uidNext: Math.max(...uids) + 1 });
    return uids;
  }

  async #quit(uids: readonly number[]): Promise<string[]> {
    const answer = await this.#deleteByPop3(uids);
    if (answer === 'closed') throw new ConnectionEnded();
    if (!answer.startsWith('+OK')) throw new Refused(`QUIT: ${answer}`);
    return [];
  }

  /** Sends a command, with a literal after it if there is one. */
  async #ask(command: string, literal?: Buffer): Promise<string[]> {
    if (this.#client.socket.destroyed) throw new ConnectionEnded();
    let lines = await this.#client.ask(literal ? `${command} {${literal.length}}` : command);
    if (literal && lines.at(-1)?.startsWith('+')) {
      this.#client.send(literal);
      this.#client.send('\r\n');
      lines = await this.#client.responses();
    }
    const last = lines.at(-1) ?? '';
    if (last === 'closed' || lines.some((line) => line.startsWith('* BYE'))) throw new ConnectionEnded();
    if (!last.startsWith('OK')) throw new Refused(`${command.replace(/".*"/, '"…"')}: ${last}`);
    return lines;
  }
}

function commandOf(change: Exclude<Change, { kind: 'quit' }>): [command: string, literal?: Buffer] {
  const uids = 'uids' in change ? change.uids.join(',') : '';
  switch (change.kind) {
    case 'append':
      return [`APPEND ${change.folder} (${change.flags})`, messageOf(change.token)];
    case 'flags':
      return [`UID STORE ${uids} ${change.isAdded ? '+' : '-'}FLAGS (${change.flag})`];
    case 'copy':
      return [`UID COPY ${uids} ${change.to}`];
    case 'move':
      return [`UID MOVE ${uids} ${change.to}`];
    case 'expunge':
      return ['EXPUNGE'];
    case 'create':
      return [`CREATE ${change.folder}`];
    case 'delete':
      return [`DELETE ${change.folder}`];
    case 'rename':
      return [`RENAME ${change.folder} ${change.to}`];
  }
}

/** Reads the sequence set of an answer, such as `4:6,9`, in its order. */
function numbersIn(set: string): number[] {
  return set.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split(':').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** Reads a response to FETCH. Returns undefined for any other line. */
export function readMessage(line: string): FoundMessage | undefined {
  if (!/^\* \d+ FETCH /.test(line)) return undefined;
  const literal = /BODY\[\] \{(\d+)\}\r\n/.exec(line);
  if (!literal) return undefined;
  const begin = literal.index + literal[0].length;
  const end = begin + Number(literal[1]);
  const bytes = Buffer.from(line.slice(begin, end), 'latin1');
  const items = line.slice(0, literal.index) + line.slice(end);
  const token = tokenIn(bytes);
  return {
    uid: Number(/UID (\d+)/.exec(items)?.[1]),
    token,
    hash: createHash('sha256').update(bytes).digest('hex'),
    flags: flagsOf(/FLAGS \(([^)]*)\)/.exec(items)?.[1]?.split(' ') ?? []),
    modseq: Number(/MODSEQ \((\d+)\)/.exec(items)?.[1]),
    // A delivered message has header fields in front of what was sent.
    isWhole: bytes.subarray(-messageOf(token).length).equals(messageOf(token)),
  };
}
