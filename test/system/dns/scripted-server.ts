/** A name server that does what a test tells it to, over UDP and TCP on one port of 127.0.0.1: honest ones are in `test/support`. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type Answer, decode, encode, type Packet } from 'dns-packet';

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
  /** Resolves when so many questions have come. */
  untilAsked(count: number): Promise<void>;
  close(): Promise<void>;
};

export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const udp = createSocket('udp4');
  const tcp = createServer();
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as { port: number };
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  const connections = new Set<Socket>();
  let wake = () => {};
  const server: ScriptedServer = {
    address: `127.0.0.1:${port}`,
    asked: [],
    script,
    async untilAsked(count) {
      while (server.asked.length < count) await new Promise<void>((resolve) => (wake = resolve));
    },
    async close() {
      for (const socket of connections) socket.destroy();
      udp.close();
      tcp.close();
      await Promise.all([once(udp, 'close'), once(tcp, 'close')]);
    },
  };
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

/** Says for how long there is nothing (RFC 2308 3). */
export function authority({ ttl, minimum }: { ttl: number; minimum: number }): Answer {
  const serials = { serial: 1, refresh: 3_600, retry: 600, expire: 86_400, minimum };
  return record('example', 'SOA', { mname: 'ns.example', rname: 'hostmaster.example', ...serials }, ttl);
}
