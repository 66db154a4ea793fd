/** Reads the URLs of attachments. system/download.ts decides which of them may be fetched. */
import { invalid } from '../../system/errors.ts';

/**
 * Maximum length of a URL that browsers and proxies commonly support (RFC 9110 section 4.1 recommends at least 8000 octets).
 */
export const MAX_URL_CHARACTERS = 2_048;

/**
 * Returns the URL of a file.
 * @throws AppError validation_error naming `path`
 */
export function readRemoteUrl(path: string, text: string): URL {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  if (!url) throw invalid(path, `\`${path}\` must be an absolute URL that starts with https://`);
  return url;
}

/** Returns the last segment of the path as a file name; undefined when it is empty. */
export function filenameOf(url: URL): string | undefined {
  const last = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  return (decode(last) ?? last) || undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
