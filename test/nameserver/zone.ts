/** A zone for tests, and questions to it as a client writes and reads them. */
import { type Answer, decode, encode, type OptAnswer } from 'dns-packet';
import { loadConfig } from '../../src/config/config.ts';
import { operatorRecords } from '../../src/domains/operator-records.ts';
import { createResponder, type Outcome, type Responder } from '../../src/nameserver/respond.ts';
import { serverNames, zoneRecords } from '../../src/nameserver/zone/records.ts';
import { buildZone, type Zone } from '../../src/nameserver/zone/zone.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

export const HOST = 'mx.postrider.example';
export const CLIENT = '192.0.2.53';

/** Returns the configuration of a name server. */
export function testConfig(env: Record<string, string> = {}) {
  return loadConfig({
    env: {
      POSTRIDER_HOSTNAME: HOST,
      POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1,2001:db8::1',
      POSTRIDER_NAMESERVER_ENABLED: 'true',
      ...env,
    },
  });
}

/** Returns the zone of an installation without domains of tenants. */
export function testZone(env: Record<string, string> = {}): Zone {
  const config = testConfig(env);
  const records = zoneRecords(config, operatorRecords(config, config.domains.addresses));
  const [primary = ''] = serverNames(config);
  return buildZone(records, { apex: HOST, primary, serial: 7 });
}

export type TestResponder = Responder & { clock: FakeClock; outcomes: Outcome[] };

/** Returns what answers for `testZone`. */
export function testResponder(zone: Zone | null = testZone()): TestResponder {
  const clock = createFakeClock(1_800_000_000_000);
  const outcomes: Outcome[] = [];
  const options = {
    clock,
    zone: () => zone ?? undefined,
    count: (outcome: Outcome) => void outcomes.push(outcome),
  };
  return { ...createResponder(options), clock, outcomes };
}

type Edns = { payloadBytes?: number; version?: number; cookie?: Buffer };

/** Writes a query as clients do. Without `edns` it has no OPT record. */
export function query(name: string, type: string, edns?: Edns, queryClass = 'IN'): Buffer {
  return encode({
    id: 4_711,
    type: 'query',
    flags: 0x0100,
    questions: [{ name, type, class: queryClass }],
    additionals: edns ? [opt(edns)] : [],
  });
}

/** Returns an OPT record. */
export function opt({ payloadBytes = 1_232, version = 0, cookie }: Edns): Answer {
  const options = cookie ? [{ code: 10, data: cookie }] : [];
  return {
    name: '.',
    type: 'OPT',
    udpPayloadSize: payloadBytes,
    ednsVersion: version,
    options,
  } as unknown as Answer;
}

export type Seen = {
  /** Response code with the bits of OPT. */
  code: number;
  isAuthoritative: boolean;
  isTruncated: boolean;
  /** Records as text: name, type and data. */
  answers: string[];
  authorities: string[];
  additionals: string[];
  opt: (OptAnswer & { options?: { code: number; data: Buffer }[] }) | undefined;
};

/** Reads a response. @throws Error when it is none */
export function read(response: Buffer | undefined): Seen {
  if (!response) throw new Error('there is no response');
  const packet = decode(response);
  const flags = packet.flags ?? 0;
  const additionals = (packet.additionals ?? []) as Answer[];
  const found = additionals.find(({ type }) => type === 'OPT') as Seen['opt'];
  return {
    code: (flags & 0xf) + ((found?.extendedRcode ?? 0) << 4),
    isAuthoritative: (flags & 0x0400) !== 0,
    isTruncated: (flags & 0x0200) !== 0,
    answers: (packet.answers ?? []).map(text),
    authorities: (packet.authorities ?? []).map(text),
    additionals: additionals.filter(({ type }) => type !== 'OPT').map(text),
    opt: found,
  };
}

function text({ name, type, data }: Answer): string {
  return `${name} ${type} ${dataText(data)}`;
}

function dataText(data: unknown): string {
  if (Array.isArray(data)) return Buffer.concat(data as Buffer[]).toString();
  if (typeof data !== 'object' || data === null) return String(data);
  return Object.values(data).join(' ');
}
