/**
 * A file from the web, for whoever names one by its URL: https on every hop, a few redirects each checked like the
 * first URL, one time limit for all, and a body that is never held beyond its limit. Whether an address may be connected to is
 * decided in `fetch.ts`, for every hop anew (security.md 2.26).
 */
import { RefusedTargetError } from './blocklist.ts';
import { type HttpResponse, NoRoomError } from './fetch/answer.ts';
import type { System } from './system.ts';

export type DownloadRequest = {
  url: string;
  maxBytes: number;
  /** From the first packet of the first hop to the last byte of the last. */
  timeoutMs: number;
  mostRedirects: number;
  /** Taken for what is held of the file as it comes. Given back unless the download is `ok`; then it is the caller's. */
  room: { take(bytes: number): boolean; release(): void };
};

export type Download =
  | { kind: 'ok'; bytes: Buffer }
  /**
   * `reason` is shown to the caller, as in "it could not be fetched: <reason>". It reveals nothing about internal names
   * and hosts.
   */
  | { kind: 'refused'; reason: string }
  /** There is too little room at the moment; the file may be fine. */
  | { kind: 'no-room' };

/** SMTP, POP3, IMAP and submission, with and without TLS (RFC 8314), and 2525, the common stand-in for 587 (decisions.md 14). */
const MAIL_PORTS: readonly string[] = ['25', '110', '143', '465', '587', '993', '995', '2525'];
/** RFC 9110 15.4: those that name another place for a GET. */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Never rejects. */
export async function download(
  system: Pick<System, 'fetch' | 'clock'>,
  request: DownloadRequest,
): Promise<Download> {
  const result = await follow(system, request);
  if (result.kind !== 'ok') request.room.release();
  return result;
}

async function follow(
  system: Pick<System, 'fetch' | 'clock'>,
  { url, maxBytes, timeoutMs, mostRedirects, room }: DownloadRequest,
): Promise<Download> {
  const deadline = system.clock.elapsed() + timeoutMs;
  const tooSlow = refused(`it took longer than ${timeoutMs / 1_000} seconds`);
  let place = readUrl(url);
  for (let hops = 0; hops <= mostRedirects; hops++) {
    if (typeof place === 'string') return refused(place);
    const leftMs = Math.floor(deadline - system.clock.elapsed());
    if (leftMs <= 0) return tooSlow;
    try {
      const response = await system.fetch({
        method: 'GET',
        url: place.href,
        headers: { accept: '*/*', 'user-agent': 'Postrider' },
        timeoutMs: leftMs,
        maxResponseBytes: maxBytes,
        takeRoom: room.take,
      });
      if (!REDIRECTS.includes(response.status)) return judge(response, maxBytes);
      room.release();
      place = readUrl(header(response, 'location') ?? '', place);
    } catch (error) {
      if (error instanceof NoRoomError) return { kind: 'no-room' };
      if (error instanceof Error && error.name === 'TimeoutError') return tooSlow;
      if (error instanceof RefusedTargetError) return refused(error.message);
      return refused('its server could not be reached, or broke off');
    }
  }
  return refused(`there are more than ${mostRedirects} redirects`);
}

/** The place, or what is wrong with it. */
function readUrl(text: string, base?: URL): URL | string {
  const url = URL.parse(text, base?.href);
  const what = base ? 'a redirect' : 'the URL';
  if (url === null || text === '') return `${what} leads nowhere`;
  if (url.protocol !== 'https:') return `${what} does not use https`;
  if (url.username !== '' || url.password !== '') return `${what} holds a user name or password`;
  if (MAIL_PORTS.includes(url.port)) return `${what} uses port ${url.port}, a mail port`;
  return url;
}

function judge(response: HttpResponse, maxBytes: number): Download {
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
    // A list may be split into several fields (RFC 9110 5.3).
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
