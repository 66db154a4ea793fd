/**
 * The floor of mail that arrives: the least that still answers 250 only when the message is on disk. SMTP, one insert for
 * each message, one SQLite transaction for all that an event-loop turn brought (WAL, FULL). It checks nothing. Runs in a
 * process of its own; prints its port.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

export type BareInboundInput = { folder: string };

const END_OF_DATA = '\r\n.\r\n';
const LINE_END = '\r\n';

const input = JSON.parse(process.argv[2] ?? '') as BareInboundInput;
const database = new Sqlite(join(input.folder, 'bare-inbound.db'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE spool (id TEXT PRIMARY KEY, message BLOB NOT NULL) STRICT');
const insert = database.prepare('INSERT INTO spool VALUES (?, ?)');

let received: { message: Buffer; socket: Socket }[] = [];

const insertGroup = database.transaction(() => {
  for (const { message } of received) insert.run(randomUUID(), message);
});

const server = createServer({ noDelay: true }, serve).listen(0, '127.0.0.1', 511, () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : undefined);
});

function serve(socket: Socket): void {
  let isData = false;
  let parts: Buffer[] = [];
  socket.on('error', () => socket.destroy());
  socket.on('data', (part: Buffer) => {
    parts.push(part);
    if (isData) {
      // The end may be split over two parts, so a short part is looked at with the one before it.
      const tail = Buffer.concat(parts.slice(-2));
      if (!tail.subarray(-END_OF_DATA.length).equals(Buffer.from(END_OF_DATA))) return;
      const message = Buffer.concat(parts);
      [isData, parts] = [false, []];
      store(message.subarray(0, -END_OF_DATA.length), socket);
      return;
    }
    const lines = Buffer.concat(parts).toString('latin1');
    if (!lines.endsWith(LINE_END)) return;
    parts = [];
    isData = answer(socket, lines);
  });
  socket.write('220 bare.test ESMTP\r\n');
}

/** Answers one command. Returns true when a message follows. smtp-source waits for each answer. */
function answer(socket: Socket, line: string): boolean {
  const verb = line.slice(0, 4).toUpperCase();
  if (verb === 'DATA') {
    socket.write('354 Go ahead\r\n');
    return true;
  }
  if (verb === 'QUIT') socket.end('221 Bye\r\n');
  else socket.write('250 Ok\r\n');
  return false;
}

function store(message: Buffer, socket: Socket): void {
  if (received.length === 0) setImmediate(commit);
  received.push({ message, socket });
}

function commit(): void {
  insertGroup();
  const group = received;
  received = [];
  for (const { socket } of group) socket.write('250 Ok\r\n');
}
