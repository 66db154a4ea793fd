/**
 * Chooses the resolvers and their order: those of the configuration, or else those of the machine. A resolver that
 * does not answer comes last for a while.
 */
import { Resolver } from 'node:dns';
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Server } from './exchange.ts';

export type Servers = {
  /** Returns at most `MAX_SERVERS` resolvers in the order in which they are asked. */
  inOrder(): Server[];
  /**
   * Returns true when every resolver that may be asked is believed about DNSSEC: it is on loopback, or the operator trusts it. One
   * other among them would do, since whoever silences the rest has everybody ask that one.
   */
  areTrusted(): boolean;
  /** Records that the server did not answer in time. */
  putLast(server: Server): void;
};

const DNS_PORT = 53;
/** Maximum number of resolvers, as in resolv.conf(5). More of them would only delay a failure. */
const MAX_SERVERS = 3;
/** Time for which a silent server is asked last. RFC 2308 section 7.2 allows five minutes. */
const SILENT_MS = 30_000;
/**
 * Maximum age of the machine's list of resolvers. It may change while the daemon runs, which may also start before
 * the network is up.
 */
const READ_AGAIN_MS = 30_000;

export type ServersOptions = {
  clock: Clock;
  /**
   * Addresses such as `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. An empty list selects the
   * resolvers of the machine.
   */
  servers: readonly string[];
  /** Addresses of resolvers that are believed about DNSSEC although they are not on loopback. */
  trusted?: readonly string[];
  /** Returns the resolvers of the machine. Tests replace it. */
  ofMachine?: () => readonly string[];
};

/**
 * Returns the list of resolvers.
 * @throws Error naming the address that cannot be parsed
 */
export function createServers({
  clock,
  servers,
  trusted = [],
  ofMachine = readMachine,
}: ServersOptions): Servers {
  const configured = servers.map(readConfigured);
  const trustedKeys = keysOf(trusted);
  const silentUntil = new Map<string, number>();
  let machine = { servers: [] as Server[], readAt: Number.NEGATIVE_INFINITY };

  function current(): Server[] {
    if (configured.length > 0) return configured;
    if (clock.elapsed() >= machine.readAt + READ_AGAIN_MS) {
      machine = { servers: ofMachine().flatMap((text) => readServer(text) ?? []), readAt: clock.elapsed() };
    }
    return machine.servers;
  }

  const isSilent = (server: Server) => clock.elapsed() < (silentUntil.get(keyOf(server)) ?? 0);
  return {
    inOrder() {
      const all = current().slice(0, MAX_SERVERS);
      return [...all.filter((server) => !isSilent(server)), ...all.filter(isSilent)];
    },
    areTrusted: () =>
      current()
        .slice(0, MAX_SERVERS)
        .every((server) => isBelieved(server, trustedKeys)),
    putLast(server) {
      silentUntil.set(keyOf(server), clock.elapsed() + SILENT_MS);
    },
  };
}

/** Returns the resolvers of a list that are not believed about DNSSEC. `trusted` has those that the operator trusts. */
export function findDisbelieved(resolvers: readonly string[], trusted: readonly string[]): string[] {
  const keys = keysOf(trusted);
  return resolvers.slice(0, MAX_SERVERS).filter((text) => {
    const server = readServer(text);
    return server !== undefined && !isBelieved(server, keys);
  });
}

function keysOf(trusted: readonly string[]): ReadonlySet<string> {
  return new Set(trusted.map((text) => keyOf(readConfigured(text))));
}

function isBelieved(server: Server, trustedKeys: ReadonlySet<string>): boolean {
  return isLoopback(server.address) || trustedKeys.has(keyOf(server));
}

/** Returns the resolvers that are asked: those of the configuration, or else those of the machine. */
export function resolversInUse(configured: readonly string[]): readonly string[] {
  return configured.length > 0 ? configured : readMachine();
}

/** Address of the resolver of Docker in a container. It passes on what a resolver elsewhere says, whatever way that has come. */
const DOCKER_RESOLVER = '127.0.0.11';

/** Returns true for an address that leads to this machine alone (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
function isLoopback(address: string): boolean {
  if (address === DOCKER_RESOLVER) return false;
  return address === '::1' || /^127(?:\.\d{1,3}){3}$/.test(address);
}

function keyOf({ address, port }: Server): string {
  return `${address} ${port}`;
}

/**
 * Returns the resolvers of the machine. A new `Resolver` reads the configuration again; the default one keeps its
 * first result.
 */
function readMachine(): readonly string[] {
  return new Resolver().getServers();
}

/** @throws Error naming the address that cannot be parsed */
export function readConfigured(text: string): Server {
  const server = readServer(text);
  if (server) return server;
  throw new Error(`"${text}" is not the address of a resolver such as 192.0.2.1 or [2001:db8::1]:53`);
}

/** True for an address that a resolver may be configured by, such as `192.0.2.1` or `[2001:db8::1]:53`. */
export function isResolver(text: string): boolean {
  return readServer(text) !== undefined;
}

function readServer(text: string): Server | undefined {
  const [, bracketed, bare, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const server = { address: bracketed ?? bare ?? text, port: Number(port ?? DNS_PORT) };
  return isIP(server.address) !== 0 && server.port >= 1 && server.port <= 65_535 ? server : undefined;
}
