/** The worker thread that decodes the image of a logo and writes it anew. */
import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node';
import { serveJobs } from '../../system/killable-threads/serve.ts';
import type { Logo } from './reader.ts';

/** Maximum size of a logo in pixels: two for each pixel of CSS at which the pages show it, for screens with a high resolution. */
const MAX_WIDTH = 480;
const MAX_HEIGHT = 160;

serveJobs((bytes: Uint8Array): Logo => {
  const image = PhotonImage.new_from_byteslice(bytes);
  const [givenWidth, givenHeight] = [image.get_width(), image.get_height()];
  const scale = Math.min(1, MAX_WIDTH / givenWidth, MAX_HEIGHT / givenHeight);
  const width = Math.max(1, Math.round(givenWidth * scale));
  const height = Math.max(1, Math.round(givenHeight * scale));
  return { png: resize(image, width, height, SamplingFilter.Triangle).get_bytes(), width, height };
});
