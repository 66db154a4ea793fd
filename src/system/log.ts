/**
 * Logs JSON lines to standard output, with constant messages and the data in fields. It never logs a secret or the
 * body of a message.
 */
import { type Level, type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child'>;
export type LogLevel = Level | 'silent';

/** Returns a logger that writes lines of this level and above. */
export function createLog(level: LogLevel): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
