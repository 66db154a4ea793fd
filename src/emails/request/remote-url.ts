/** Addresses of attachments to fetch. Which of them may be fetched is decided when one is (system/download.ts). */
import { invalid } from '../../system/errors.ts';

/** What browsers and proxies commonly bear (RFC 9110 4.1 asks for at least 8000 of receivers). */
export const MAX_URL_CHARACTERS = 2_048;

/** @throws AppError validation_error naming `path` */
export function readRemoteUrl(path: string, text: string): URL {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  if (!url) throw invalid(path, `\`${path}\` must be an absolute URL that starts with https://`);
  return url;
}

/** The last part of its path; undefined when that says nothing. */
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
