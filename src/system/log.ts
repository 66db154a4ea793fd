/**
 * Logs JSON lines to standard output, with constant messages and the data in fields. It never logs a secret or the
 * body of a message. The stack of an error names lines of the sources, also in the bundle and in its threads.
 */
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import { nameSourceLines } from './source-lines.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child'>;
export type LogLevel = Level | 'silent';

/** Destinations by logger, for lines that another thread has made. */
const destinations = new WeakMap<Log, DestinationStream>();

/** Returns a logger that writes lines of this level and above to `destination`, or to standard output. */
export function createLog(level: LogLevel, destination: DestinationStream = pino.destination(1)): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
  };
  const log = pino(options, destination);
  destinations.set(log, destination);
  return log;
}

/** Writes a complete line, which a logger of another thread has made, to the destination of `log`. */
export function writeLine(log: Log, line: string): void {
  destinations.get(log)?.write(line);
}

/** Returns the fields of an error as pino writes them. A value that is no error is returned as it is. */
function serializeError(error: Error): unknown {
  const fields = pino.stdSerializers.err(error);
  return typeof fields?.stack === 'string' ? { ...fields, stack: nameSourceLines(fields.stack) } : fields;
}
