/**
 * Logs lines to standard output, as JSON or as text, with constant messages and the data in fields. It never logs a secret or the
 * body of a message. The stack of an error names lines of the sources, also in the bundle and in its threads.
 */
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import { type Clock, realClock } from './clock.ts';
import { LineBatches } from './line-batches.ts';
import { formatLogLine, parseLogLine } from './log-text.ts';
import { nameSourceLines } from './source-lines.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child'>;
export type LogLevel = Level | 'silent';
export type LogFormat = 'json' | 'text';

/** The loggers that this module has made, with their destinations. A test may use another one. */
const made = new WeakMap<Log, { logger: Logger; destination: DestinationStream }>();

/** Returns a logger that writes lines of this level and above to `destination`, or to standard output. */
export function createLog(level: LogLevel, destination: DestinationStream = pino.destination(1)): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serializeError },
  };
  const logger = pino(options, destination);
  // Each thread of the daemon follows the level.
  logger.setMaxListeners(0);
  made.set(logger, { logger, destination });
  return logger;
}

/** Returns the level of a logger; undefined for one that this module has not made. */
export function logLevelOf(log: Log): LogLevel | undefined {
  return made.get(log)?.logger.level as LogLevel | undefined;
}

/** Changes the level of a logger, and of the threads of the daemon that write to it. */
export function setLogLevel(log: Log, level: LogLevel): void {
  const entry = made.get(log);
  if (entry) entry.logger.level = level;
}

/** Calls `follow` with each new level of a logger. Returns the function that ends this. */
export function followLogLevel(log: Log, follow: (level: LogLevel) => void): () => void {
  const logger = made.get(log)?.logger;
  const listener = (level: string) => follow(level as LogLevel);
  logger?.on('level-change', listener);
  return () => logger?.off('level-change', listener);
}

/** Returns a destination that writes each line as text to `output`, or to standard output. */
export function textDestination(output: DestinationStream = pino.destination(1)): DestinationStream {
  return {
    write(line) {
      const fields = parseLogLine(line);
      output.write(fields === undefined ? line : `${formatLogLine(fields)}\n`);
    },
  };
}

/**
 * Returns a destination that writes the lines of some milliseconds together. At the end of the process the lines that are left are written;
 * `kill -9` may lose those that are held.
 */
export function writtenTogether(
  output: DestinationStream = pino.destination(1),
  clock: Pick<Clock, 'after'> = realClock,
): DestinationStream {
  return new LineBatches(clock, (lines) => void output.write(lines.join('')));
}

/** Writes a complete line, which a logger of another thread has made, to the destination of `log`. */
export function writeLine(log: Log, line: string): void {
  made.get(log)?.destination.write(line);
}

/** Returns the fields of an error as pino writes them. A value that is no error is returned as it is. */
function serializeError(error: Error): unknown {
  const fields = pino.stdSerializers.err(error);
  return typeof fields?.stack === 'string' ? { ...fields, stack: nameSourceLines(fields.stack) } : fields;
}
