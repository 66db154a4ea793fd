/** The cases of sdk/contract/wire.json, as sdk/README.md describes them. */

export type Answer = { status: number; headers?: Record<string, string>; body?: unknown } | Misbehaviour;

/** A fault; the status is that of `cut-body`, whose head arrives whole. */
export type Misbehaviour = { fault: Fault; status?: number };

export type Fault = 'close' | 'cut-head' | 'cut-body' | 'hang' | 'hang-body' | 'drip' | 'huge' | 'gzip-bomb';

/** A header that must be this text, or absent, or any text, or the one of another request. */
export type ExpectedHeader = string | null | { $any: 'string' } | { $same: number };

export type ExpectedRequest = {
  method?: string;
  path?: string;
  query?: Record<string, string>;
  headers?: Record<string, ExpectedHeader>;
  /** Text, or a value that the JSON must contain. */
  body?: unknown;
  minWaitMs?: number;
  connection?: 'new' | 'same';
};

export type WireCase = {
  name: string;
  answers: Answer[];
  requests: ExpectedRequest[];
  opensAfterMs?: number;
};

/** A request as it arrived. Times are of `performance.now()`. */
export type SeenRequest = {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: string;
  at: number;
  /** Number of the connection, from 0. */
  connection: number;
};
