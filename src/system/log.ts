/** JSON lines on standard output: constant messages, data as fields. Never a secret, never a message body. */
import { type Level, type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child'>;
export type LogLevel = Level | 'silent';

export function createLog(level: LogLevel): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
