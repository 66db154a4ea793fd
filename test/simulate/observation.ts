/** The events of a simulation that the checks and the trace see, each at its time. Addresses of recipients identify them, because each occurs once. */
import type { RecipientState } from '../../src/db/tables.ts';
import type { HostPlan } from './plan.ts';

/** A connection of the daemon to a host, from its dial on. */
export type ConnectionFacts = {
  id: number;
  host: HostPlan;
  tls: 'none' | 'valid' | 'invalid';
  /** Address that it leaves from; undefined when the system chooses. */
  source: string | undefined;
};

export type Observation =
  | { kind: 'started'; run: number }
  | { kind: 'killed'; run: number }
  | { kind: 'stopping'; run: number }
  | { kind: 'stopped'; run: number }
  | { kind: 'clock-set'; byMs: number }
  /** Mail is on disk: it is the daemon's from now on. */
  | { kind: 'accepted'; mail: string; tenant: string; addresses: readonly string[] }
  /** A commit was refused. */
  | { kind: 'commit-failed'; writes: readonly string[] }
  /** A committed write has changed the state of a recipient. `dueAt` is its column. */
  | ({ kind: 'changed'; from: RecipientState; to: RecipientState } & RecipientFacts)
  /** A connection could not be made, because the machine does not have the address that it was to leave from. */
  | { kind: 'source-missing'; source: string }
  | { kind: 'dialled'; connection: ConnectionFacts }
  /** The connection has reached the host, whatever the host does with it. */
  | { kind: 'opened'; connection: ConnectionFacts }
  /** The daemon knows that it is connected. */
  | { kind: 'connected'; connection: ConnectionFacts }
  /** The host has read QUIT or the end of the connection, or has closed it. */
  | { kind: 'closed'; connection: ConnectionFacts }
  /** The daemon has closed its end of the connection, has said QUIT in plain text, or did not get it. */
  | { kind: 'left'; connection: ConnectionFacts; reason: string }
  /** The host has read this line, and answers with this reply; '' is none. */
  | { kind: 'said'; connection: ConnectionFacts; line: string; reply: string }
  /** The host took the command MAIL of this message. */
  | { kind: 'mail'; connection: ConnectionFacts; mail: string }
  /** The host has taken the message for these recipients. `id` identifies the transaction. */
  | { kind: 'taken'; connection: ConnectionFacts; id: number; addresses: readonly string[] }
  /** The host has refused these recipients for good. */
  | { kind: 'refused'; connection: ConnectionFacts; addresses: readonly string[]; reply: string }
  /** The reply to a message that was taken has arrived at the daemon, which still runs. */
  | { kind: 'confirmed'; id: number }
  | { kind: 'answered'; name: string; answer: string }
  | { kind: 'logged'; level: 'warn' | 'error' | 'fatal'; message: string; details: string };

export type RecipientFacts = {
  address: string;
  attempts: number;
  interruptedAttempts: number;
  dueAt: number | null;
  expiresAt: number;
};

export type Observe = (observation: Observation) => void;
