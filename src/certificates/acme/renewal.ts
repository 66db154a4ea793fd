/** Decides when a certificate is renewed: by its life, or as its authority says (RFC 9773). */
import type { App } from '../../app.ts';
import { DAY_MS, parseTimestamp } from '../../system/clock.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import type { Certificate } from '../certificate.ts';
import { AcmeError } from './acme-error.ts';
import { type Authority, recordOf } from './authority.ts';

/** Life below which a certificate is renewed at half of it, and not when a third is left, in milliseconds. */
const SHORT_LIFE_MS = 10 * DAY_MS;
/** Part of the life by which renewals are spread, so that certificates that were ordered together are not renewed together. */
const SPREAD = 0.02;
/** Minimum time from one certificate of a name to the next, in milliseconds, however short their lives are. */
export const MIN_RENEWAL_MS = 3_600_000;
/** Bounds of the time between two looks at the renewal information, and the time after one that failed (RFC 9773 section 4.3). */
const MIN_LOOK_MS = 60_000;
const MAX_LOOK_MS = DAY_MS;
const LOOK_AFTER_ERROR_MS = 6 * 3_600_000;

/** Returns the time at which a certificate is renewed unless its authority says otherwise, in Unix milliseconds. */
export function renewalTime(
  { validFrom, expiresAt }: Pick<Certificate, 'validFrom' | 'expiresAt'>,
  random: number,
): number {
  const lifeMs = expiresAt - validFrom;
  const leftMs = lifeMs < SHORT_LIFE_MS ? lifeMs / 2 : lifeMs / 3;
  return Math.round(expiresAt - leftMs - random * SPREAD * lifeMs);
}

/** `renewAt` is undefined when the authority says nothing. */
type RenewalInformation = {
  renewAt: number | undefined;
  nextLookAt: number;
  explanation: string | undefined;
};

type Asked = {
  certificateId: string;
  /** Time that is planned already. It stays while the authority agrees with it. */
  plannedAt: number | null;
};

/** Asks the authority when a certificate is to be renewed. It never rejects for an error of the authority. */
export async function askForRenewal(
  { clock, random }: Pick<App, 'clock' | 'random'>,
  authority: Authority,
  { certificateId, plannedAt }: Asked,
): Promise<RenewalInformation> {
  const now = clock.now();
  const nothing = { renewAt: undefined, nextLookAt: now + LOOK_AFTER_ERROR_MS, explanation: undefined };
  try {
    const { renewalInfo } = await authority.directory();
    if (renewalInfo === undefined) return nothing;
    const { body, retryAfterMs } = await authority.get(
      `${renewalInfo}/${certificateId}`,
      'the renewal information',
    );
    const window = readWindow(body);
    if (!window) return nothing;
    const { start, end } = window;
    const isPlannedWithin = plannedAt !== null && plannedAt >= start && plannedAt <= end;
    const { explanationURL } = recordOf(body);
    return {
      renewAt: isPlannedWithin ? plannedAt : Math.round(start + random() * (end - start)),
      nextLookAt: now + Math.min(Math.max(retryAfterMs ?? LOOK_AFTER_ERROR_MS, MIN_LOOK_MS), MAX_LOOK_MS),
      explanation: typeof explanationURL === 'string' ? cleanForeignText(explanationURL) : undefined,
    };
  } catch (error) {
    if (error instanceof AcmeError) return nothing;
    throw error;
  }
}

/** Returns the window; undefined when it is none, or ends before it starts. */
function readWindow(body: unknown): { start: number; end: number } | undefined {
  const window = recordOf(recordOf(body)['suggestedWindow']);
  const [start, end] = [window['start'], window['end']].map((time) =>
    typeof time === 'string' ? parseTimestamp(time) : undefined,
  );
  return start !== undefined && end !== undefined && end > start ? { start, end } : undefined;
}
