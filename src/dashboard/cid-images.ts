/** Shows the images that are files of a message in its HTML (RFC 2392). Nothing else is loaded, because the policy of the answer forbids it. */
import { buffer } from 'node:stream/consumers';
import type { Calls } from '../http/json/calls.ts';

/** Media types of images that HTML may show: those without scripts. */
const SHOWN_IMAGES = ['image/gif', 'image/jpeg', 'image/png', 'image/webp'];
/** Maximum size of all images of a message that its HTML shows, in bytes, each as often as it is named. Each becomes text of the page. */
const MAX_IMAGE_BYTES = 2 * 1024 * 1024;
/** Maximum number of images of a message that its HTML shows. Each is read from the message. */
const MAX_IMAGES = 20;

type File = {
  contentId: string | null;
  contentType: string;
  size: number;
  /** Path of the operation that returns the file. */
  path: string;
};

/** Returns HTML with the images among the files that it names, within the limits. */
export async function withCidImages(
  api: Pick<Calls, 'stream'>,
  html: string,
  files: readonly File[],
): Promise<string> {
  let left = MAX_IMAGE_BYTES;
  let shown = html;
  for (const { contentId, contentType, size, path } of namedIn(html, files).slice(0, MAX_IMAGES)) {
    const name = `cid:${contentId}`;
    const shownBytes = size * (shown.split(name).length - 1);
    if (shownBytes > left) continue;
    left -= shownBytes;
    const bytes = await buffer((await api.stream(path)).bytes);
    shown = shown.replaceAll(name, `data:${contentType};base64,${bytes.toString('base64')}`);
  }
  return shown;
}

/** Returns the images that the HTML names. */
function namedIn(html: string, files: readonly File[]): readonly File[] {
  return files.filter(
    ({ contentId, contentType }) =>
      contentId !== null && SHOWN_IMAGES.includes(contentType) && html.includes(`cid:${contentId}`),
  );
}
