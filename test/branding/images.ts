/** Images for tests, made by the library that reads logos, and by hand where it writes none. */
import { PhotonImage } from '@silvia-odwyer/photon-node';

/** Returns an image of one colour with a stripe. */
function draw(width: number, height: number): PhotonImage {
  const pixels = new Uint8Array(width * height * 4).fill(255);
  for (let at = 0; at < Math.min(pixels.length, 4 * width); at += 4) pixels.set([200, 30, 30, 255], at);
  return new PhotonImage(pixels, width, height);
}

export const png = (width: number, height: number) => Buffer.from(draw(width, height).get_bytes());
export const jpeg = (width: number, height: number) => Buffer.from(draw(width, height).get_bytes_jpeg(80));
export const webp = (width: number, height: number) => Buffer.from(draw(width, height).get_bytes_webp());
/** A GIF of one pixel. */
export const GIF = Buffer.from('R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64');

/** Returns the size that a PNG names. */
export function sizeOfPng(bytes: Buffer): [number, number] {
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}
