/** The policy of MTA-STS of a domain: reads it (RFC 8461 section 3.2), and compares hosts with it (section 4.1). */
import { isUtf8 } from 'node:buffer';
import { isHostName } from '../../system/dns.ts';

export type StsPolicy = {
  mode: 'enforce' | 'testing' | 'none';
  /** Patterns in lower case: a host name, or one with `*` as its first label. Empty only in mode `none`. */
  mx: readonly string[];
  /** Lifetime from the time of the fetch, in seconds. */
  maxAgeSeconds: number;
};

/** Reports a policy that is not valid, with the reason. */
export class InvalidStsPolicyError extends Error {
  override readonly name = 'InvalidStsPolicyError';
}

/** Maximum lifetime of a policy, about a year (RFC 8461 section 3.2). A longer one is cut to it. */
const MAX_AGE_SECONDS = 31_557_600;
/** Maximum number of patterns, several times the number of MX hosts of the largest providers. Our own limit. */
const MAX_PATTERNS = 256;
/** Shape of a line: a name, and a value without control characters or space around it. Values of unknown names are UTF-8. */
const FIELD = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):[ \t]*([^\p{Cc}\s](?:[^\p{Cc}]*[^\p{Cc}\s])?)[ \t]*$/u;
const MODES = ['enforce', 'testing', 'none'] as const;

/**
 * Reads a policy.
 * @throws InvalidStsPolicyError
 */
export function parseStsPolicy(bytes: Buffer): StsPolicy {
  if (!isUtf8(bytes)) throw new InvalidStsPolicyError('it is not UTF-8');
  const lines = bytes.toString().split(/\r?\n/);
  while (lines.at(-1) === '') lines.pop();
  const fields = lines.map(readField);
  const first = (name: string) => fields.find((field) => field.name === name)?.value;
  if (first('version') !== 'STSv1') throw new InvalidStsPolicyError('its version is not STSv1');
  const mode = MODES.find((one) => one === first('mode'));
  if (mode === undefined) throw new InvalidStsPolicyError('its mode is not enforce, testing or none');
  const maxAge = first('max_age') ?? '';
  if (!/^\d{1,10}$/.test(maxAge)) throw new InvalidStsPolicyError('its max_age is not a number of seconds');
  const mx = fields.filter(({ name }) => name === 'mx').map(({ value }) => value.toLowerCase());
  if (mx.length === 0 && mode !== 'none') throw new InvalidStsPolicyError('it names no mx');
  if (mx.length > MAX_PATTERNS) throw new InvalidStsPolicyError(`it has more than ${MAX_PATTERNS} mx`);
  // Names are A-labels: a U-label is no host name (RFC 8461 section 3.2).
  if (!mx.every((pattern) => isHostName(pattern.replace(/^\*\./, ''))))
    throw new InvalidStsPolicyError('one mx is neither a host name nor a wildcard');
  return { mode, mx, maxAgeSeconds: Math.min(Number(maxAge), MAX_AGE_SECONDS) };
}

function readField(line: string): { name: string; value: string } {
  const [, name, value] = FIELD.exec(line) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidStsPolicyError('a line is not a name and a value');
  return { name, value };
}

/** Returns true when the policy allows a host. A wildcard stands for exactly one label. `host` is in lower case and A-labels. */
export function allowsHost({ mx }: Pick<StsPolicy, 'mx'>, host: string): boolean {
  const parent = host.slice(host.indexOf('.') + 1);
  return mx.some((pattern) =>
    pattern.startsWith('*.')
      ? host.includes('.') && parent === pattern.slice(2).replace(/\.$/, '')
      : host === pattern.replace(/\.$/, ''),
  );
}

/** Returns the policy as lines, for reports (RFC 8460 section 4.5). */
export function stsPolicyLines({ mode, mx, maxAgeSeconds }: StsPolicy): string[] {
  return ['version: STSv1', `mode: ${mode}`, ...mx.map((one) => `mx: ${one}`), `max_age: ${maxAgeSeconds}`];
}
