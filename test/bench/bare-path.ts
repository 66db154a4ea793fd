/**
 * The floor: the least that still accepts mail durably, signs it and delivers it. HTTP POST -> one SQLite transaction
 * for all that an event-loop turn brought (WAL, FULL) -> 200 -> DKIM relaxed/relaxed, RSA-2048 -> pipelined SMTP over
 * kept connections -> the row goes in the next commit. No retries, no events, no tenants, no recovery: what a daemon
 * adds is what its distance from this measures. Runs in a process of its own; prints its port.
 */
import { createPrivateKey, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { signMessage } from './bare-dkim.ts';
import { startDelivery } from './bare-smtp.ts';
import { type Email, SENDER_DOMAIN, toMessage } from './message.ts';

export type BarePathInput = {
  folder: string;
  privateKey: string;
  /** `undefined`: accepted mail stays where it is. */
  sinkPort: number | undefined;
  connections: number;
};

const input = JSON.parse(process.argv[2] ?? '') as BarePathInput;
const key = createPrivateKey(input.privateKey);
const deliver =
  input.sinkPort === undefined ? undefined : startDelivery(input.sinkPort, input.connections, settle);

const database = new Sqlite(join(input.folder, 'bare-path.db'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE spool (id TEXT PRIMARY KEY, email TEXT NOT NULL) STRICT');
const insert = database.prepare('INSERT INTO spool VALUES (?, ?)');
const remove = database.prepare('DELETE FROM spool WHERE id = ?');

let accepted: { id: string; email: string; response: ServerResponse }[] = [];
let delivered: string[] = [];
let commitPlanned = false;

const server = createServer(receive).listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : undefined);
});

function receive(request: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    accepted.push({ id: randomUUID(), email: Buffer.concat(parts).toString(), response });
    planCommit();
  });
}

function planCommit(): void {
  if (commitPlanned) return;
  commitPlanned = true;
  setImmediate(commit);
}

const commitGroup = database.transaction(() => {
  for (const { id, email } of accepted) insert.run(id, email);
  for (const id of delivered) remove.run(id);
});

function commit(): void {
  commitPlanned = false;
  commitGroup();
  const group = accepted;
  accepted = [];
  delivered = [];
  for (const { id, email, response } of group) {
    const answer = JSON.stringify({ id, status: 'queued' });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
    prepare(id, JSON.parse(email) as Email);
  }
}

function prepare(id: string, email: Email): void {
  if (!deliver) return;
  const message = `Date: ${new Date().toUTCString()}\r\nMessage-ID: <${id}@${SENDER_DOMAIN}>\r\n${toMessage(email)}`;
  signMessage(key, message, (signed) => deliver({ id, recipient: email.to[0] ?? '', message: signed }));
}

function settle(id: string): void {
  delivered.push(id);
  planCommit();
}
