/** Settings of a ManageSieve listener, and its limits. */
import { ACCESS_LIMITS, type AccessLimits, type AccessServerOptions } from '../access/options.ts';
import { MAX_ANSWER_OCTETS } from '../sasl/exchange.ts';
import type { OpenSession } from './session.ts';

export type ManageSieveOptions = AccessServerOptions & {
  /** Name of the program, which the capability IMPLEMENTATION shows. */
  implementation: string;
  /** Sieve extensions that scripts may require. */
  extensions: readonly string[];
  /** Maximum number of redirects in a run of a script. */
  maxRedirects: number;
  openSession: OpenSession;
  limits?: Partial<ManageSieveLimits>;
};

export type ManageSieveLimits = AccessLimits & {
  /** Maximum size of a command with its literals, before login and after it. */
  earlyCommandBytes: number;
  commandBytes: number;
  /** Maximum size of a literal that is too large and is read nevertheless, so that its command is refused. A larger one ends the connection. */
  discardedBytes: number;
};

const KIB = 1024;

export const DEFAULT_LIMITS: ManageSieveLimits = {
  ...ACCESS_LIMITS,
  // A client manages scripts for some minutes, and there are few of them.
  connections: 2_000,
  connectionsPerAddress: 50,
  connectionsPerMinute: 120,
  earlyCommandBytes: MAX_ANSWER_OCTETS + KIB,
  // Larger than any script that is stored, so that the refusal can say how large a script may be.
  commandBytes: 256 * KIB,
  discardedBytes: 4 * KIB * KIB,
};
