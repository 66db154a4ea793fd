/**
 * A mail server that follows a script. It accepts everything unless the script says otherwise for a phase. It reads real
 * bytes on a real socket and records all of them.
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '../../../support/loopback.ts';

export type ScriptPhase =
  | 'banner'
  | 'ehlo'
  | 'helo'
  | 'starttls'
  | 'reset'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'dot'
  | 'quit';

/** Text to send, with its line ends, or an action on the socket. After an action the peer never answers again. */
export type Answer = string | 'hang' | 'close' | 'reset';

export type Script = Partial<Record<ScriptPhase, Answer | ((line: string) => Answer)>> & {
  /** Stops reading once the message has begun, and calls this. */
  stall?: (socket: Socket) => void;
};

export type ScriptedPeer = {
  port: number;
  /** Command lines of all connections, without line ends. */
  commands: string[];
  /** The data of each packet read before the first message byte: one entry per read. */
  packets: string[];
  /** All data received: one entry per read. */
  reads: string[];
  /** Messages received, still dot-stuffed, with the final dot. */
  messages: string[];
  /** Resolves when a phase was reached (and answered, if it is answered). */
  reached(phase: ScriptPhase): Promise<void>;
  /** Sends text without being asked, to every connection. */
  say(text: string): void;
  closedConnections(): number;
  connections(): number;
  close(): Promise<void>;
};

const POLITE: Record<ScriptPhase, string> = {
  banner: '220 peer.test ESMTP\r\n',
  ehlo: '250-peer.test\r\n250-PIPELINING\r\n250-SIZE 100000000\r\n250 8BITMIME\r\n',
  helo: '250 peer.test\r\n',
  starttls: '220 go ahead\r\n',
  reset: '250 2.0.0 reset\r\n',
  mail: '250 2.1.0 sender ok\r\n',
  rcpt: '250 2.1.5 recipient ok\r\n',
  data: '354 go ahead\r\n',
  dot: '250 2.0.0 taken\r\n',
  quit: '221 bye\r\n',
};

const VERBS: Record<string, ScriptPhase> = {
  EHLO: 'ehlo',
  HELO: 'helo',
  STARTTLS: 'starttls',
  RSET: 'reset',
  MAIL: 'mail',
  RCPT: 'rcpt',
  DATA: 'data',
  QUIT: 'quit',
};

export async function startScriptedPeer(script: Script = {}): Promise<ScriptedPeer> {
  const sockets = new Set<Socket>();
  const waiting: { phase: ScriptPhase; resolve: () => void }[] = [];
  const seen = new Set<ScriptPhase>();
  const commands: string[] = [];
  const packets: string[] = [];
  const messages: string[] = [];
  const reads: string[] = [];
  let opened = 0;
  let closed = 0;
  /** True when the last answer asked for the message. */
  let accepted = false;

  /** Returns false when the peer never answers again. */
  function react(socket: Socket, phase: ScriptPhase, line: string): boolean {
    const scripted = script[phase] ?? POLITE[phase];
    const answer = typeof scripted === 'function' ? scripted(line) : scripted;
    if (answer === 'close') socket.destroySoon();
    else if (answer === 'reset') socket.resetAndDestroy();
    else if (answer !== 'hang') socket.write(answer, 'latin1');
    seen.add(phase);
    for (const waiter of waiting) if (waiter.phase === phase) waiter.resolve();
    accepted = answer.startsWith('354');
    return !['close', 'reset', 'hang'].includes(answer);
  }

  const server = createServer({ noDelay: true }, (socket) => {
    opened += 1;
    sockets.add(socket);
    let input = '';
    let inMessage = false;
    let isAnswering = true;
    socket.on('error', () => {});
    socket.on('close', () => {
      closed += 1;
      sockets.delete(socket);
    });
    socket.on('data', (chunk) => {
      reads.push(chunk.toString('latin1'));
      if (!inMessage) packets.push(chunk.toString('latin1'));
      input += chunk.toString('latin1');
      while (isAnswering) {
        const end = inMessage ? messageEnd(input) : input.indexOf('\r\n') + 2;
        if (end < 2) break;
        const taken = input.slice(0, end);
        input = input.slice(end);
        if (inMessage) {
          inMessage = false;
          messages.push(taken);
          isAnswering = react(socket, 'dot', '');
          continue;
        }
        const line = taken.slice(0, -2);
        commands.push(line);
        const phase = VERBS[line.split(' ')[0]?.toUpperCase() ?? ''];
        if (phase === undefined) socket.write('500 what?\r\n');
        else isAnswering = react(socket, phase, line);
        if (phase === 'data' && accepted) {
          inMessage = true;
          if (script.stall) {
            socket.pause();
            script.stall(socket);
          }
        }
      }
    });
    isAnswering = react(socket, 'banner', '');
  });
  return {
    port: await listenOnLoopback(server),
    commands,
    packets,
    messages,
    reads,
    reached: (phase) =>
      seen.has(phase)
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ phase, resolve: () => resolve() })),
    say(text) {
      for (const socket of sockets) socket.write(text);
    },
    closedConnections: () => closed,
    connections: () => opened,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function messageEnd(input: string): number {
  if (input.startsWith('.\r\n')) return 3;
  const at = input.indexOf('\r\n.\r\n');
  return at < 0 ? -1 : at + 5;
}
