/**
 * Serves the zone of the demo over UDP on 127.0.0.1. The threads that authenticate received mail make queries of their own,
 * and cannot share the zone in memory.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, decode, encode, type Packet, RECURSION_AVAILABLE } from 'dns-packet';
import type { DnsAnswer, DnsLookups } from '../../system/dns.ts';

type DnsServer = { /** Address such as `127.0.0.1:53535`. */ address: string; close(): Promise<void> };

/** Response codes (RFC 1035 section 4.1.1). */
const CODES = { found: 0, 'no-data': 0, 'no-name': 3, failed: 2 } as const;
const TTL_SECONDS = 60;

/** Starts the server on a free port. */
export async function startDnsServer(zone: DnsLookups): Promise<DnsServer> {
  const socket = createSocket('udp4');
  socket.on('message', async (bytes, peer) => {
    const query = read(bytes);
    if (query) socket.send(encode(await respond(zone, query)), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** Returns the query; undefined for anything else. */
function read(bytes: Buffer): Packet | undefined {
  try {
    const packet = decode(bytes);
    return packet.type === 'query' ? packet : undefined;
  } catch {
    return undefined;
  }
}

async function respond(zone: DnsLookups, { id = 0, questions = [] }: Packet): Promise<Packet> {
  const [question] = questions;
  const { kind, answers } = question
    ? await lookUp(zone, question)
    : { kind: 'failed' as const, answers: [] };
  return { type: 'response', id, flags: RECURSION_AVAILABLE | CODES[kind], questions, answers };
}

type Found = { kind: keyof typeof CODES; answers: Answer[] };

async function lookUp(zone: DnsLookups, { name, type }: { name: string; type: string }): Promise<Found> {
  const base = { name, ttl: TTL_SECONDS };
  switch (type) {
    case 'A':
      return toAnswers(await zone.a(name), (data) => ({ ...base, type, data }));
    case 'TXT':
      return toAnswers(await zone.txt(name), (data) => ({ ...base, type, data }));
    case 'MX':
      return toAnswers(await zone.mx(name), (data) => ({ ...base, type, data }));
    case 'CNAME':
      return toAnswers(await zone.cname(name), (data) => ({ ...base, type, data }));
    default:
      return { kind: (await zone.aaaa(name)).kind, answers: [] };
  }
}

function toAnswers<Value>(found: DnsAnswer<Value>, toAnswer: (value: Value) => Answer): Found {
  return { kind: found.kind, answers: found.kind === 'found' ? found.records.map(toAnswer) : [] };
}
