/**
 * A DNS server on 127.0.0.1, over UDP and TCP, that answers from zone text (zone.ts). It behaves like a resolver: it
 * follows CNAMEs, and a name that is not in the text does not exist. It never fails and never sends wrong answers.
 */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  type Question,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from 'dns-packet';
import {
  lookUp,
  NEGATIVE_TTL_SECONDS,
  parseZone,
  type RecordType,
  type Zone,
  type ZoneRecord,
} from './zone.ts';

export type DnsServer = AsyncDisposable & {
  /** Address such as `127.0.0.1:53535`. The port is the same for UDP and TCP. */
  address: string;
  /** Replaces the whole zone. */
  setZone(text: string): void;
  close(): Promise<void>;
};

/** Maximum size of an answer over UDP to a client without EDNS (RFC 1035 section 4.2.1). */
const UDP_BYTES = 512;
const PORT_TRIES = 20;

/** Response codes (RFC 1035 section 4.1.1). */
const RESPONSE_CODES = { found: 0, 'no-data': 0, loop: 2, 'no-name': 3 } as const;
const FORMAT_ERROR = 1;

/** SOA record of every negative answer. It states the time for which the answer may be cached (RFC 2308 section 3). */
const START_OF_AUTHORITY: Answer = {
  name: '.',
  type: 'SOA',
  ttl: NEGATIVE_TTL_SECONDS,
  class: 'IN',
  data: {
    mname: 'ns.test',
    rname: 'hostmaster.test',
    serial: 1,
    refresh: 3_600,
    retry: 600,
    expire: 86_400,
    minimum: NEGATIVE_TTL_SECONDS,
  },
};

/** Starts a server that answers from the zone text. */
export async function startDnsServer(zoneText = ''): Promise<DnsServer> {
  let zone = parseZone(zoneText);
  const { udp, tcp, port } = await bindBoth();
  const connections = new Set<Socket>();
  udp.on('message', (bytes: Buffer, peer: RemoteInfo) => {
    const query = read(bytes);
    if (query) udp.send(fit(respond(zone, query), udpLimit(query)), peer.port, peer.address);
  });
  tcp.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    socket.on('error', () => socket.destroy());
    serveTcp(socket, (query) => encode(respond(zone, query)));
  });
  const close = async () => {
    for (const socket of connections) socket.destroy();
    await Promise.all([new Promise<void>((done) => udp.close(done)), new Promise((done) => tcp.close(done))]);
  };
  return {
    address: `127.0.0.1:${port}`,
    setZone(text) {
      zone = parseZone(text);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Binds a UDP and a TCP socket to the same free port. Several ports are tried, because a port that is free for UDP may
 * be in use for TCP.
 */
export async function bindBoth(): Promise<{ udp: UdpSocket; tcp: Server; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const { port } = udp.address();
    const tcp = createServer();
    try {
      tcp.listen(port, '127.0.0.1');
      await once(tcp, 'listening');
      return { udp, tcp, port };
    } catch (error) {
      udp.close();
      if (attempt === PORT_TRIES) throw error;
    }
  }
}

/**
 * Answers queries over TCP. Each message follows a length of two bytes, and a client may send several at once (RFC 7766
 * 6.2.1, 8).
 */
function serveTcp(socket: Socket, answer: (query: Packet) => Buffer): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (part: Buffer) => {
    pending = Buffer.concat([pending, part]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0);
      const query = read(pending.subarray(2, end));
      pending = pending.subarray(end);
      if (query) socket.write(framed(answer(query)));
      else socket.destroy();
    }
  });
}

function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

function read(bytes: Buffer): Packet | undefined {
  try {
    const query = decode(bytes);
    return query.type === 'query' ? query : undefined;
  } catch {
    return undefined;
  }
}

function respond(zone: Zone, query: Packet): Packet {
  const { code, answers, authorities } = resolve(zone, query.questions?.[0]);
  const flags = AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | ((query.flags ?? 0) & RECURSION_DESIRED);
  return {
    id: query.id ?? 0,
    type: 'response',
    flags: flags | code,
    questions: query.questions ?? [],
    answers,
    authorities,
  };
}

type Resolved = { code: number; answers: Answer[]; authorities: Answer[] };

function resolve(zone: Zone, question: Question | undefined): Resolved {
  if (question === undefined) return { code: FORMAT_ERROR, answers: [], authorities: [] };
  // Types that the zone text cannot contain, such as SOA and CAA, have no records, which is the correct answer.
  const found = lookUp(zone, question.name, question.type as RecordType);
  const aliases = found.kind === 'loop' ? [] : found.aliases;
  const records = found.kind === 'found' ? found.records : [];
  return {
    code: RESPONSE_CODES[found.kind],
    answers: [...aliases, ...records].map(toAnswer),
    authorities: found.kind === 'no-data' || found.kind === 'no-name' ? [START_OF_AUTHORITY] : [],
  };
}

function toAnswer(record: ZoneRecord): Answer {
  return {
    name: record.name,
    type: record.type,
    ttl: record.ttlSeconds,
    class: 'IN',
    data: recordData(record),
  };
}

function recordData(record: ZoneRecord): unknown {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return record.address;
    case 'MX':
      return { preference: record.preference, exchange: record.exchange };
    case 'SRV': {
      const { priority, weight, port, target } = record;
      return { priority, weight, port, target };
    }
    case 'TLSA': {
      const { usage, selector, matchingType, certificate } = record;
      return { usage, selector, matchingType, certificate: Buffer.from(certificate, 'hex') };
    }
    case 'CAA':
      return { flags: record.flags, tag: record.tag, value: record.value };
    case 'TXT':
      return record.strings;
    case 'CNAME':
      return record.target;
    case 'PTR':
      return record.host;
  }
}

/** Returns the maximum size of the answer over UDP, which a client with EDNS announces (RFC 6891 section 6.2.3). */
function udpLimit(query: Packet): number {
  for (const record of query.additionals ?? []) {
    if ('udpPayloadSize' in record) return Math.max(record.udpPayloadSize, UDP_BYTES);
  }
  return UDP_BYTES;
}

/**
 * Encodes the answer. One that is too long for UDP is sent empty and truncated, so the client repeats the query over
 * TCP (RFC 2181 section 9).
 */
function fit(response: Packet, limit: number): Buffer {
  const bytes = encode(response);
  if (bytes.length <= limit) return bytes;
  return encode({
    ...response,
    answers: [],
    authorities: [],
    flags: (response.flags ?? 0) | TRUNCATED_RESPONSE,
  });
}
