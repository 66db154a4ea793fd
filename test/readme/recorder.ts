/** Stands between a program and a daemon, passes everything on as it is, and remembers it. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type Exchange = {
  method: string;
  path: string;
  status: number;
  replayed: boolean;
  /** Parsed when it is JSON, text otherwise. */
  // biome-ignore lint/suspicious/noExplicitAny: what an API answered is what the test is about to find out.
  body: any;
};

export type Recorder = { address: string; exchanges: Exchange[]; close(): Promise<void> };

/** `daemon`: its address, such as `http://127.0.0.1:8025`. */
export async function startRecorder(daemon: string): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const passedOn = request(`${daemon}${path}`, { method, headers });
    // The daemon may answer before it has received the whole body.
    const answered = once(passedOn, 'response');
    const [[answer]] = await Promise.all([answered, buffer(incoming).then((body) => passedOn.end(body))]);
    const body = await buffer(answer);
    const replayed = answer.headers['idempotency-replayed'] === 'true';
    exchanges.push({ method, path, status: answer.statusCode, replayed, body: parse(body.toString()) });
    outgoing.writeHead(answer.statusCode, answer.headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    exchanges,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
