/**
 * What a benchmark is made of. A group is one file; it prepares what its rows share and hands back the rows. A row
 * measures itself once per call, from a fresh start, so that runs of different rows can alternate.
 */
import type { Memory } from './process-tree.ts';
import type { Workspace } from './workspace.ts';

export type LoopDelay = {
  /** Of a second, the 99th percentile; of those, the one in the middle. */
  p99Ms: number;
  /** The longest of the run. */
  maxMs: number;
};

export type Measure = {
  /** In the row's unit. */
  figure: number;
  p50Ms?: number;
  p99Ms?: number;
  /** Processor time of all processes of the system under test, in ms a message. */
  cpuMsPerMessage?: number;
  /** Of the same processes at the end of the run. */
  memory?: Memory;
  /** Of the system's main event loop, where it tells. */
  loop?: LoopDelay;
  /** Mean number of busy cores while measuring: the system; load, sink and this program; everything else. */
  cores?: { system: number; load: number; others: number };
  /** What else the same run has shown, by name and unit. */
  details?: Readonly<Record<string, number>>;
};

/** Rows that do the same job are compared: with the bare path, and with the peer. */
export type Job =
  | 'accept'
  | 'send'
  | 'broadcast'
  | 'read a message'
  | `SMTP in, ${string}`
  | `SMTP to mailbox, ${string}`
  | `IMAP, ${string}`
  | `POP3, ${string}`
  | `${'webhook' | 'route'} posts, ${string}`
  | `${string} beside a standby`;
export type Role = 'bare path' | 'peer' | 'measured';

export type Row = {
  name: string;
  unit:
    | 'fdatasync/s'
    | 'commits/s'
    | 'signatures/s'
    | 'µs'
    | 'msg/s'
    | 'posts/s'
    | 'logins/s'
    | 'answers/s'
    | 'ms'
    | 'MiB'
    | 'KiB'
    | 'emails'
    | 'connections'
    | 'bytes'
    | '%';
  comparison?: { job: Job; role: Role };
  /** What it is to reach, for the reader. */
  aim?: string;
  /** Number of runs, when the row is too long for as many as the others. */
  rounds?: number;
  measure(): Promise<Measure>;
};

export type PreparedGroup = { rows: readonly Row[] } | { unavailable: string };

export type Group = {
  /** What `--only` names. */
  name: string;
  prepare(workspace: Workspace): Promise<PreparedGroup>;
};
