/** Keeps log lines for tests. */
import { pino } from 'pino';
import type { Log } from '../../src/system/log.ts';

export type LogLine = { msg: string; [field: string]: unknown };

/** Returns a log, and the lines that were written to it at this level and above, without their level and time. */
export function recordLog(level = 'warn'): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  function write(text: string): void {
    const { level: _, time: __, ...line } = JSON.parse(text);
    lines.push(line);
  }
  return { log: pino({ level, base: null }, { write }), lines };
}
