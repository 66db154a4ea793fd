/** Serves the commands of a user who has logged in, over a stream from the thread of the listener (handover.ts). */
import type { Clock } from '../../system/clock.ts';
import type { Log } from '../../system/log.ts';
import { runForOwner } from '../../system/slices.ts';
import { PortStream } from '../../system/thread/port-stream.ts';
import type { StreamPort } from '../../system/thread/streams.ts';
import { ClientGone } from '../connection/client-gone.ts';
import { ConnectionFault } from './fault.ts';
import type { ListenerNote, UserNote } from './handover.ts';
import type { AccessWire } from './wire.ts';

/** A connection of a user. */
export type ServedUser = {
  readonly connection: { wire: AccessWire; isOpen: boolean };
  /** Reads the next command and answers it. @throws ConnectionFault; ClientGone */
  serveCommand(): Promise<void>;
  /** Notes that the answers to the next commands, which were sent ahead, have left. */
  noteAnswered?(commands: number): void;
};

type UserProtocol = {
  /** Name in log lines, such as `IMAP`. */
  name: string;
  /** Returns the lines that tell a client why its connection ends; an empty text for none. */
  formatEnd(fault: ConnectionFault): string;
  /** Begins to serve. `head` is what the listener says of the connection. */
  open(stream: PortStream, head: unknown): ServedUser;
};

/** Number of the stream of a connection, at a port to the thread of its listener. */
export type UserStream = { port: StreamPort; number: number };

export type UserContext = {
  clock: Clock;
  log: Pick<Log, 'error'>;
  /** The owner of the commands: owners alternate between the slices of what their commands do. */
  owner: string;
  /** Lets others go on between two commands. */
  pause(): Promise<void> | undefined;
};

export type User<Reason = { code?: string; text: string }> = {
  /** Resolves when the connection has ended and its last command has, too. */
  done: Promise<void>;
  /** Ends the connection for this reason, whatever it does. */
  end(reason: Reason): void;
};

/** Serves the rest of a connection, which begins once the listener says so. */
export function serveUser(
  context: UserContext,
  { port, number }: UserStream,
  protocol: UserProtocol,
): User<ConnectionFault> {
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  let served: ServedUser | undefined;
  let ending: ConnectionFault | undefined;
  const stream = new PortStream(port, number, (note) => {
    const received = note as ListenerNote;
    if (received.kind === 'interrupt') return end(new ConnectionFault(received.reason, received.text));
    if (received.kind === 'answered') return served?.noteAnswered?.(received.commands);
    if (ending) return tellEnd(stream, ending, protocol);
    served = protocol.open(stream, received.head);
    const serving = { served, stream, findEnding: () => ending };
    void runForOwner(context.owner, () => serve(context, serving, protocol)).finally(finish);
  });
  stream.once('close', () => {
    if (!served) finish();
  });
  function end(fault: ConnectionFault, options?: { isForced: true }): void {
    ending = fault;
    served?.connection.wire.interrupt(fault, options);
  }
  return {
    done,
    end(fault) {
      end(fault, { isForced: true });
      // Nothing runs yet. The client is told once the listener has handed it over.
      if (!served) finish();
    },
  };
}

/** Ends a connection whose account has ended its sessions before the connection was handed over. */
function tellEnd(
  stream: PortStream,
  fault: ConnectionFault,
  { formatEnd }: Pick<UserProtocol, 'formatEnd'>,
): void {
  stream.postNote({ kind: 'fault', reason: fault.reason } satisfies UserNote);
  stream.end(formatEnd(fault));
}

type Serving = {
  served: ServedUser;
  stream: PortStream;
  /** Returns the fault with which the connection ends before its next command. */
  findEnding(): ConnectionFault | undefined;
};

async function serve(
  { log, pause }: UserContext,
  { served, stream, findEnding }: Serving,
  { name, formatEnd }: UserProtocol,
): Promise<void> {
  try {
    while (served.connection.isOpen) {
      const ending = findEnding();
      if (ending) throw ending;
      await served.serveCommand();
      // A client can send thousands of commands at once.
      await pause();
    }
  } catch (error) {
    if (error instanceof ClientGone || stream.destroyed) return;
    const isFault = error instanceof ConnectionFault;
    if (!isFault) log.error({ err: error }, `${name} connection failed`);
    const fault = isFault ? error : new ConnectionFault('failed', 'The connection failed');
    if (isFault) stream.postNote({ kind: 'fault', reason: fault.reason } satisfies UserNote);
    if (fault.text !== undefined) served.connection.wire.send(formatEnd(fault));
  } finally {
    served.connection.wire.end();
  }
}
