/** Messages between the main thread and a thread that runs a part of the daemon. */
import type { EncodedError } from '../encoded-error.ts';
import type { LogLevel } from '../log.ts';
import type { MetricSnapshot } from '../metrics.ts';
import type { WakeupName, WakeupSubjects } from '../wakeups.ts';

/** Value with which a thread starts. `logLevel` is undefined when the log of the daemon has none that can change. */
export type ThreadStart = { name: string; data: unknown; logLevel: LogLevel | undefined };

export type WakeupMessage = { kind: 'wakeup'; name: WakeupName; subjects: WakeupSubjects };

export type ToThread =
  | WakeupMessage
  /** The log of the daemon has another level. */
  | { kind: 'log-level'; level: LogLevel }
  /** Calls a function of the part. */
  | CallRequest
  /** Ends the part. What is under way may take `graceMs`. */
  | { kind: 'stop'; graceMs: number };

export type FromThread =
  | WakeupMessage
  /** The part runs. */
  | { kind: 'ready' }
  /** Arrives every second, and shows that the event loop of the thread turns. */
  | { kind: 'alive'; metrics: MetricSnapshot }
  /** The part listens for wake-ups of this name. */
  | { kind: 'listen'; name: WakeupName }
  /** Lines of the log (line-batches.ts). */
  | { kind: 'log'; lines: readonly string[] }
  | CallAnswer
  /** Is sent once the part has stopped. Nothing follows it. */
  | { kind: 'stopped'; metrics: MetricSnapshot };

export type CallRequest = { kind: 'call'; id: number; name: string; input: unknown };

export type CallAnswer =
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'answer'; id: number; error: EncodedError };
