/**
 * Downloads a file from a URL that a tenant names: https on every hop, a few redirects that are each checked like the
 * first URL, one time limit in total, and a bounded body. The check whether an address may be connected to is in
 * `fetch.ts`, and runs again for every hop.
 */
import { RefusedTargetError } from './blocklist.ts';
import { BudgetExhaustedError, type HttpResponse } from './fetch/answer.ts';
import type { System } from './system.ts';

type DownloadRequest = {
  url: string;
  maxBytes: number;
  /** Time limit from the first packet of the first hop to the last byte of the last hop, in milliseconds. */
  timeoutMs: number;
  maxRedirects: number;
  /**
   * Reserves memory for the file while it arrives. It is released unless the download is `ok`; then the caller
   * releases it.
   */
  reservation: { take(bytes: number): boolean; release(): void };
};

export type Download =
  | { kind: 'ok'; bytes: Buffer }
  /**
   * `reason` is shown to the caller, as in "it could not be fetched: <reason>". It reveals nothing about internal names
   * and hosts.
   */
  | { kind: 'refused'; reason: string }
  /** There is too little memory at the moment. The file itself may be acceptable. */
  | { kind: 'budget-exhausted' };

/** Ports of SMTP, POP3, IMAP and submission, with and without TLS (RFC 8314), and 2525, a common alternative to 587. */
const MAIL_PORTS: readonly string[] = ['25', '110', '143', '465', '587', '993', '995', '2525'];
/** Status codes that redirect a GET to another URL (RFC 9110 section 15.4). */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Downloads the file. It never rejects. */
export async function download(
  system: Pick<System, 'fetch' | 'clock'>,
  request: DownloadRequest,
): Promise<Download> {
  const result = await follow(system, request);
  if (result.kind !== 'ok') request.reservation.release();
  return result;
}

async function follow(
  system: Pick<System, 'fetch' | 'clock'>,
  { url, maxBytes, timeoutMs, maxRedirects, reservation }: DownloadRequest,
): Promise<Download> {
  const deadline = system.clock.elapsed() + timeoutMs;
  const tooSlow = refused(`it took longer than ${timeoutMs / 1_000} seconds`);
  let target = readUrl(url);
  for (let hops = 0; hops <= maxRedirects; hops++) {
    if (typeof target === 'string') return refused(target);
    const leftMs = Math.floor(deadline - system.clock.elapsed());
    if (leftMs <= 0) return tooSlow;
    try {
      const response = await system.fetch({
        method: 'GET',
        url: target.href,
        headers: { accept: '*/*', 'user-agent': 'Postrider' },
        timeoutMs: leftMs,
        maxResponseBytes: maxBytes,
        reserveBytes: reservation.take,
      });
      if (!REDIRECTS.includes(response.status)) return readDownload(response, maxBytes);
      reservation.release();
      target = readUrl(header(response, 'location') ?? '', target);
    } catch (error) {
      if (error instanceof BudgetExhaustedError) return { kind: 'budget-exhausted' };
      if (error instanceof Error && error.name === 'TimeoutError') return tooSlow;
      if (error instanceof RefusedTargetError) return refused(error.message);
      return refused('its server could not be reached or closed the connection');
    }
  }
  return refused(`there are more than ${maxRedirects} redirects`);
}

/** Returns the URL, or a text that says what is wrong with it. */
function readUrl(text: string, base?: URL): URL | string {
  const url = URL.parse(text, base?.href);
  const what = base ? 'a redirect' : 'the URL';
  if (url === null || text === '') return `${what} leads nowhere`;
  if (url.protocol !== 'https:') return `${what} does not use https`;
  if (url.username !== '' || url.password !== '') return `${what} holds a user name or password`;
  if (MAIL_PORTS.includes(url.port)) return `${what} uses port ${url.port}, a mail port`;
  return url;
}

function readDownload(response: HttpResponse, maxBytes: number): Download {
  if (response.status !== 200) return refused(`it was answered with status ${response.status}`);
  const coding = foreignCoding(response);
  if (coding !== undefined)
    return refused(`it was sent compressed (${coding}), although the request asked for it as it is`);
  if (response.truncated) return refused(`it is larger than ${maxBytes} bytes`);
  return { kind: 'ok', bytes: response.body };
}

/** Codings that leave the bytes unchanged. The HTTP client has already decoded `chunked`. */
const PLAIN_CODINGS = { 'Content-Encoding': ['identity'], 'Transfer-Encoding': ['chunked', 'identity'] };

/**
 * Returns the header that says that the bytes are another form of the file. Requests ask for `identity`, so such a file
 * is refused: decoding it here would need its own limits against decompression bombs, only for servers that ignore the
 * request.
 */
function foreignCoding({ headers }: HttpResponse): string | undefined {
  for (const [name, plain] of Object.entries(PLAIN_CODINGS)) {
    // A list may be split into several fields (RFC 9110 section 5.3).
    const codings = [headers[name.toLowerCase()]].flat().join(',').toLowerCase().split(',');
    if (codings.some((coding) => coding.trim() !== '' && !plain.includes(coding.trim()))) return name;
  }
  return undefined;
}

function header({ headers }: HttpResponse, name: string): string | undefined {
  return [headers[name]].flat()[0];
}

function refused(reason: string): Download {
  return { kind: 'refused', reason };
}
