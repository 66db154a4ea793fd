/** Writes lines of the log as text that a person can read: time, level, message, then the fields, and a stack below. */

/** Matches a value that needs no quotes. */
const PLAIN = /^[\w.@:+/%<>=,-]+$/;
/** Characters that would move the cursor, change the terminal, or reorder the text (Unicode Standard Annex 9). */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** Width of the longest word for a level. */
const LEVEL_WIDTH = 5;

/** Levels from the least to the most severe, by their words. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;

/** Numbers that earlier versions wrote, by their words. */
const NUMBERED: Readonly<Record<number, (typeof LOG_LEVELS)[number]>> = {
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

type Fields = Record<string, unknown>;

/** Returns the fields of a line of the log, or undefined for other text, such as that of another program. */
export function parseLogLine(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const fields = JSON.parse(line) as Fields;
    const { level } = fields;
    return typeof level === 'number' ? { ...fields, level: NUMBERED[level] ?? String(level) } : fields;
  } catch {
    return undefined;
  }
}

/** Returns a line of the log as text, without a final line break. */
export function formatLogLine({ time, level, msg, err, ...fields }: Fields): string {
  const values = Object.entries(fields).map(([name, value]) => `${name}=${show(value)}`);
  const words = [
    String(time ?? ''),
    String(level ?? '')
      .toUpperCase()
      .padEnd(LEVEL_WIDTH),
    String(msg ?? ''),
  ];
  const first = visible([...words, ...values].join(' ').trim());
  return err === undefined ? first : `${first}\n${describeError(err)}`;
}

function show(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return value;
  return JSON.stringify(value) ?? '';
}

/** Returns the stack of an error, indented, or whatever stands in its place. */
function describeError(error: unknown): string {
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? error.stack : undefined;
  const lines = (typeof stack === 'string' ? stack : show(error)).split('\n');
  return lines.map((line) => `    ${visible(line.trim())}`).join('\n');
}

function visible(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}
