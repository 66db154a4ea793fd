/** A SOCKS5 server on 127.0.0.1 whose answers a test scripts. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from './loopback.ts';

export type SocksScript = {
  /** Answer to the methods that the client offers. */
  method?: Buffer;
  /** True when the server closes the connection after that. */
  endsEarly?: true;
  /** Answer to the user and the password. */
  login?: Buffer;
  /** Answer to the request; `drop` closes the connection, `hang` answers nothing, and `forward` connects to the host. */
  reply?: Buffer | 'drop' | 'hang' | 'forward';
};

export type SocksServer = {
  port: number;
  /** What each client said: the methods, the login, and the request. */
  heard: Buffer[];
  close(): void;
};

/** Reply of success, with an address of the server that means nothing. */
export const SUCCESS = Buffer.from([5, 0, 0, 1, 192, 0, 2, 9, 0, 80]);

/** Starts the server. `portOf` says where a request for an address is forwarded to on 127.0.0.1. */
export async function startSocksServer(
  t: { after(run: () => void): void },
  script: SocksScript = {},
  portOf: (address: string, port: number) => number = (_, port) => port,
): Promise<SocksServer> {
  const heard: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    void serve(socket, { script, heard, portOf }).catch(() => socket.destroy());
  });
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.after(close);
  return { port: await listenOnLoopback(server), heard, close };
}

type Serving = { script: SocksScript; heard: Buffer[]; portOf: (address: string, port: number) => number };

async function serve(socket: Socket, { script, heard, portOf }: Serving): Promise<void> {
  const hear = async () => {
    const [said] = (await once(socket, 'data')) as [Buffer];
    heard.push(said);
    return said;
  };
  const methods = await hear();
  const needsLogin = methods[2] === 2;
  socket.write(script.method ?? Buffer.from([5, needsLogin ? 2 : 0]));
  if (script.endsEarly) socket.end();
  if (needsLogin) {
    await hear();
    socket.write(script.login ?? Buffer.from([1, 0]));
  }
  const request = await hear();
  const { reply = 'forward' } = script;
  if (reply === 'hang') return;
  if (reply === 'drop') socket.destroy();
  else if (reply === 'forward') forward(socket, request, portOf);
  else socket.write(reply);
}

function forward(socket: Socket, request: Buffer, portOf: Serving['portOf']): void {
  const address = [...request.subarray(4, 8)].join('.');
  const host = connect({
    host: '127.0.0.1',
    port: portOf(address, request.readUInt16BE(request.length - 2)),
  });
  host.on('error', () => socket.destroy());
  host.once('connect', () => {
    socket.write(SUCCESS);
    socket.pipe(host).pipe(socket);
  });
}
