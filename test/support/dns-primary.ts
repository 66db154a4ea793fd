/**
 * A primary name server in this process that takes dynamic updates (RFC 2136) signed with a key (RFC 8945). It holds records as they came,
 * checks prerequisites, and fails as a test asks for. Its signatures are its own code, not that of the program.
 */
import { createHmac } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { name as nameCodec } from 'dns-packet';
import { listenOnLoopback } from './loopback.ts';

const SECRET = Buffer.from('a secret of the tests');
/** The key in the form of its file. */
export const PRIMARY_KEY = `hmac-sha256:tests:${SECRET.toString('base64')}\n`;

const CODES = { done: 0, refused: 5, changed: 8, notAuthorized: 9 } as const;
const CLASS_IN = 1;
const CLASS_NONE = 254;

type DnsRecord = { name: string; type: number; class: number; data: Buffer };

/** What becomes of an update: a code without a change, `cut` for a change whose response never comes, undefined for the usual. */
type Fate = 'refused' | 'cut' | undefined;

export type DnsPrimary = {
  /** The address and the port. */
  server: string;
  records: DnsRecord[];
  /** Is called with the names before each update, and may change records meanwhile as somebody else does. */
  onUpdate(run: (names: readonly string[]) => Fate | Promise<Fate>): void;
  /** Error and time in the signatures of all responses (RFC 8945 section 5.2.3); undefined for good ones. */
  badTime: { secondsLater: number } | undefined;
  /** Returns the texts of a name. */
  texts(name: string): string[];
  close(): void;
};

/** Starts the server. */
export async function startDnsPrimary(): Promise<DnsPrimary> {
  let beforeUpdate: (names: readonly string[]) => Fate | Promise<Fate> = () => undefined;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let held = Buffer.alloc(0);
    socket.on('data', async (bytes) => {
      held = Buffer.concat([held, bytes]);
      if (held.length < 2 || held.length < 2 + held.readUInt16BE(0)) return;
      const response = await respond(held.subarray(2));
      if (response === undefined) return void socket.destroy();
      const length = Buffer.alloc(2);
      length.writeUInt16BE(response.length);
      socket.end(Buffer.concat([length, response]));
    });
  });
  const port = await listenOnLoopback(server);

  async function respond(bytes: Buffer): Promise<Buffer | undefined> {
    const message = parse(bytes);
    if (!message.isUpdate) {
      const { name, type } = message.question;
      const found = primary.records.filter((one) => one.name === name && one.type === type);
      return signed(message, CODES.done, found);
    }
    const fate = await beforeUpdate(message.updates.map(({ name }) => name));
    if (fate === 'refused') return signed(message, CODES.refused, []);
    if (!isAsExpected(primary.records, message.prerequisites)) return signed(message, CODES.changed, []);
    primary.records = apply(primary.records, message.updates);
    return fate === 'cut' ? undefined : signed(message, CODES.done, []);
  }

  function signed(message: Message, code: number, answers: readonly DnsRecord[]): Buffer {
    const shown = primary.badTime ? CODES.notAuthorized : code;
    return sign(respondTo(message, shown, answers), message.mac, primary.badTime);
  }

  const primary: DnsPrimary = {
    server: `127.0.0.1:${port}`,
    records: [],
    onUpdate(run) {
      beforeUpdate = run;
    },
    badTime: undefined,
    texts: (name) =>
      primary.records
        .filter((one) => one.name === name && one.type === 16)
        .map(({ data }) => data.subarray(1).toString()),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return primary;
}

/** Returns a text record. */
export function textRecord(name: string, text: string): DnsRecord {
  return {
    name,
    type: 16,
    class: CLASS_IN,
    data: Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]),
  };
}

type Message = {
  bytes: Buffer;
  isUpdate: boolean;
  question: { name: string; type: number };
  questionBytes: Buffer;
  prerequisites: DnsRecord[];
  updates: DnsRecord[];
  mac: Buffer;
};

function parse(bytes: Buffer): Message {
  let offset = 12;
  const readName = () => {
    const name = nameCodec.decode(bytes, offset).toLowerCase();
    offset += nameCodec.decode.bytes;
    return name;
  };
  const name = readName();
  const question = { name, type: bytes.readUInt16BE(offset) };
  offset += 4;
  const questionBytes = bytes.subarray(12, offset);
  const readRecords = (count: number) =>
    Array.from({ length: count }, (): DnsRecord => {
      const owner = readName();
      const length = bytes.readUInt16BE(offset + 8);
      const data = bytes.subarray(offset + 10, offset + 10 + length);
      const one = {
        name: owner,
        type: bytes.readUInt16BE(offset),
        class: bytes.readUInt16BE(offset + 2),
        data,
      };
      offset += 10 + length;
      return one;
    });
  const [prerequisites = [], updates = [], [tsig] = []] = [6, 8, 10].map((at) =>
    readRecords(bytes.readUInt16BE(at)),
  );
  return {
    ...{ bytes, question, questionBytes, prerequisites, updates },
    isUpdate: (bytes.readUInt8(2) & 0x78) === 0x28,
    mac: tsig ? macOf(tsig.data) : Buffer.alloc(0),
  };
}

function macOf(data: Buffer): Buffer {
  nameCodec.decode(data, 0);
  const at = nameCodec.decode.bytes + 8;
  return data.subarray(at + 2, at + 2 + data.readUInt16BE(at));
}

const keyOf = ({ name, type, data }: DnsRecord) => `${name} ${type} ${data.toString('hex')}`;

/** Sets must be exactly as the prerequisites name them, or not exist (RFC 2136 section 3.2). */
function isAsExpected(records: readonly DnsRecord[], prerequisites: readonly DnsRecord[]): boolean {
  const setOf = (of: readonly DnsRecord[], { name, type }: DnsRecord) =>
    of
      .filter((one) => one.name === name && (type === 255 || one.type === type))
      .map(keyOf)
      .toSorted()
      .join();
  return prerequisites.every((one) => {
    const expected = one.class === CLASS_NONE ? '' : setOf(prerequisites, one);
    return setOf(records, one) === expected;
  });
}

function apply(records: readonly DnsRecord[], updates: readonly DnsRecord[]): DnsRecord[] {
  const removed = new Set(updates.filter((one) => one.class === CLASS_NONE).map(keyOf));
  const added = updates.filter((one) => one.class === CLASS_IN);
  return [...records.filter((one) => !removed.has(keyOf(one))), ...added];
}

function respondTo({ bytes, questionBytes }: Message, code: number, answers: readonly DnsRecord[]): Buffer {
  const header = Buffer.from(bytes.subarray(0, 12));
  header.writeUInt16BE((header.readUInt16BE(2) & 0x7800) | 0x8400 | code, 2);
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, questionBytes, ...answers.map(writeRecord)]);
}

function writeRecord({ name, type, class: recordClass, data }: DnsRecord): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(recordClass, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameCodec.encode(name), fixed, data]);
}

const BADTIME = 18;

/** Signs a response. A server whose clock differs signs with the error and says its own time (RFC 8945 section 5.2.3). */
function sign(response: Buffer, requestMac: Buffer, badTime: DnsPrimary['badTime']): Buffer {
  const seconds = Math.floor(Date.now() / 1_000);
  const clock = (at: number) => {
    const bytes = Buffer.alloc(6);
    bytes.writeUIntBE(at, 0, 6);
    return bytes;
  };
  const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
  const other = badTime ? clock(seconds + badTime.secondsLater) : Buffer.alloc(0);
  const time = Buffer.concat([clock(seconds), u16(300)]);
  const algorithm = nameCodec.encode('hmac-sha256');
  const tail = Buffer.concat([u16(badTime ? BADTIME : 0), u16(other.length), other]);
  const keyName = nameCodec.encode('tests');
  const mac = createHmac('sha256', SECRET)
    .update(Buffer.concat([u16(requestMac.length), requestMac, response]))
    .update(Buffer.concat([keyName, u16(255), Buffer.alloc(4), algorithm, time, tail]))
    .digest();
  const data = Buffer.concat([algorithm, time, u16(mac.length), mac, response.subarray(0, 2), tail]);
  const tsig = writeRecord({ name: 'tests', type: 250, class: 255, data });
  const whole = Buffer.concat([response, tsig]);
  whole.writeUInt16BE(1, 10);
  return whole;
}
