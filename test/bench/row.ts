/**
 * What a benchmark is made of. A group is one file; it prepares what its rows share and hands back the rows. A row
 * measures itself once per call, from a fresh start, so that runs of different rows can alternate.
 */
import type { Workspace } from './workspace.ts';

export type Measure = {
  perSecond: number;
  p50Ms?: number;
  p99Ms?: number;
  /** Processor time of all processes of the system under test, in ms a message. */
  cpuMsPerMessage?: number;
  /** Proportional set size of the same processes at the end of the run, so that shared pages count once. */
  memoryMiB?: number;
  /** Mean number of busy cores while measuring: the system; load, sink and this program; everything else. */
  cores?: { system: number; load: number; others: number };
};

/** Rows that do the same job are compared: with the bare path, and with the peer. */
export type Job = 'accept' | 'send';
export type Role = 'bare path' | 'peer' | 'measured';

export type Row = {
  name: string;
  unit: 'fdatasync/s' | 'commits/s' | 'signatures/s' | 'msg/s';
  comparison?: { job: Job; role: Role };
  measure(): Promise<Measure>;
};

export type PreparedGroup = { rows: readonly Row[] } | { unavailable: string };

export type Group = {
  /** What `--only` names. */
  name: string;
  prepare(workspace: Workspace): Promise<PreparedGroup>;
};
