/** A name server that does what a test tells it to, over UDP and TCP on one port of 127.0.0.1: honest ones are in `test/support`. */
import type { RemoteInfo } from 'node:dgram';
import type { Socket } from 'node:net';
import { type Answer, decode, encode, type Packet } from 'dns-packet';
import { bindBoth } from '../../support/dns-server.ts';

/** What came: a question, by which way, and from which port. */
export type Asked = {
  name: string;
  type: string;
  over: 'udp' | 'tcp';
  id: number;
  port: number;
  edns: boolean;
  bytes: Buffer;
};

/** Messages as they go out, without the length of TCP; none is silence. */
export type Script = (asked: Asked) => Buffer[] | Promise<Buffer[]>;

export type ScriptedServer = {
  address: string;
  asked: Asked[];
  /** From now on. */
  script: Script;
  /** From now on TCP connections are taken and closed (`hang up`), or not taken at all. */
  setTcp(mode: 'hang up' | 'closed'): Promise<void>;
  /** Resolves when so many questions have come. */
  untilAsked(count: number): Promise<void>;
  close(): Promise<void>;
};

export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const { udp, tcp, port } = await bindBoth();
  const connections = new Set<Socket>();
  let wake = () => {};
  let hangsUp = false;
  const server: ScriptedServer = {
    address: `127.0.0.1:${port}`,
    asked: [],
    script,
    async untilAsked(count) {
      while (server.asked.length < count) await new Promise<void>((resolve) => (wake = resolve));
    },
    async setTcp(mode) {
      hangsUp = true;
      if (mode === 'closed') await closeTcp();
    },
    async close() {
      for (const socket of connections) socket.destroy();
      await Promise.all([new Promise<void>((done) => udp.close(done)), closeTcp()]);
    },
  };
  const closeTcp = () => new Promise<void>((done) => tcp.close(() => done()));
  async function take(bytes: Buffer, over: 'udp' | 'tcp', peer: number): Promise<Buffer[]> {
    const { id = 0, questions = [], additionals = [] } = decode(bytes);
    const { name = '', type = '' } = questions[0] ?? {};
    const asked = { name, type, over, id, port: peer, edns: additionals.length > 0, bytes };
    server.asked.push(asked);
    wake();
    return server.script(asked);
  }
  udp.on('message', async (bytes: Buffer, peer: RemoteInfo) => {
    for (const message of await take(bytes, 'udp', peer.port)) udp.send(message, peer.port, peer.address);
  });
  tcp.on('connection', (socket) => {
    if (hangsUp) return void socket.destroy();
    connections.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', async (bytes: Buffer) => {
      for (const message of await take(bytes.subarray(2), 'tcp', socket.remotePort ?? 0)) {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(message.length);
        socket.write(Buffer.concat([length, message]));
      }
    });
  });
  return server;
}

/** A response to `asked`, with everything in its place but for `change`. */
export function respond(asked: Asked, change: Packet = {}): Buffer {
  return encode({
    id: asked.id,
    type: 'response',
    questions: [{ name: asked.name, type: asked.type }],
    ...change,
  });
}

export function addresses(asked: Asked, ...found: string[]): Buffer {
  return respond(asked, { answers: found.map((data) => record(asked.name, 'A', data)) });
}

export function record(name: string, type: string, data: unknown, ttl = 60): Answer {
  return { name, type, ttl, class: 'IN', data };
}

/** Says for how long there is nothing (RFC 2308 section 3). */
export function authority({ ttl, minimum }: { ttl: number; minimum: number }): Answer {
  const serials = { serial: 1, refresh: 3_600, retry: 600, expire: 86_400, minimum };
  return record('example', 'SOA', { mname: 'ns.example', rname: 'hostmaster.example', ...serials }, ttl);
}
