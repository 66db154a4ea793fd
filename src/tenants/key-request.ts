/** Reads requests for a key, for the API and for the control socket. */

import { readAll } from '../http/json/read-fields.ts';
import { parseTimestamp } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';
import { readAllowedIps } from './allowed-ips.ts';
import type { NewKey } from './keys.ts';

type Asked = { allowedIps?: readonly string[] | null; expiresAt?: string | null };

/**
 * Returns the limits of a key.
 * @throws AppError validation_error naming the field
 */
export function readKeyLimits(
  { allowedIps, expiresAt }: Asked,
  now: number,
): Required<Pick<NewKey, 'allowedIps' | 'expiresAt'>> {
  return readAll({
    allowedIps: () => (allowedIps ? readAllowedIps('allowedIps', allowedIps) : null),
    expiresAt: () => (typeof expiresAt === 'string' ? readExpiry(expiresAt, now) : null),
  });
}

function readExpiry(text: string, now: number): number {
  const time = parseTimestamp(text);
  if (time === undefined) {
    throw invalid(
      'expiresAt',
      '`expiresAt` must be an ISO 8601 time with its offset, such as 2030-01-31T12:00:00Z',
    );
  }
  if (time <= now) throw invalid('expiresAt', '`expiresAt` must be in the future');
  return time;
}
