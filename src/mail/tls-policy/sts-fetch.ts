/** Fetches the policy of MTA-STS of a domain (RFC 8461 section 3.3): over HTTPS with a valid certificate, and without redirects. */
import { errorMessage } from '../../system/errors.ts';
import type { System } from '../../system/system.ts';
import { isCertificateError } from '../../system/tls.ts';
import { InvalidStsPolicyError, parseStsPolicy, type StsPolicy } from './sts-policy.ts';

/** The names of failures are those of reports (RFC 8460 section 4.3.2.2). */
export type FetchedPolicy =
  | { kind: 'policy'; policy: StsPolicy }
  | { kind: 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid'; reason: string };

/** Maximum size of a policy, as RFC 8461 section 3.3 suggests. A larger one is refused: cut off, it would be another policy. */
const MAX_POLICY_BYTES = 64 * 1024;
/** Maximum time of a fetch. Mail waits for it, so it is shorter than the minute that RFC 8461 section 3.3 suggests. */
const FETCH_TIMEOUT_MS = 20_000;

/** Fetches the policy of a domain, which is in A-labels. It never rejects. */
export async function fetchStsPolicy(world: Pick<System, 'fetch'>, domain: string): Promise<FetchedPolicy> {
  try {
    const { status, headers, body, truncated } = await world.fetch({
      method: 'GET',
      url: `https://mta-sts.${domain}/.well-known/mta-sts.txt`,
      headers: { accept: 'text/plain', 'user-agent': 'Postrider' },
      timeoutMs: FETCH_TIMEOUT_MS,
      maxResponseBytes: MAX_POLICY_BYTES,
    });
    if (status !== 200) return failed(`the host of the policy answered with status ${status}`);
    if (truncated) return invalid(`it is larger than ${MAX_POLICY_BYTES} bytes`);
    if (!isPlainText(headers['content-type'])) return invalid('it is not text/plain');
    return { kind: 'policy', policy: parseStsPolicy(body) };
  } catch (error) {
    if (error instanceof InvalidStsPolicyError) return invalid(error.message);
    if (isCertificateError(error)) return { kind: 'sts-webpki-invalid', reason: errorMessage(error) };
    return failed(errorMessage(error));
  }
}

function isPlainText(type: string | string[] | undefined): boolean {
  const [media = ''] = [type].flat();
  return /^text\/plain[ \t]*(?:;|$)/i.test(media);
}

function failed(reason: string): FetchedPolicy {
  return { kind: 'sts-policy-fetch-error', reason };
}

function invalid(reason: string): FetchedPolicy {
  return { kind: 'sts-policy-invalid', reason };
}
