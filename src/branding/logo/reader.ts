/**
 * Turns the image that a tenant sends into the logo that its pages show: decoded, made small enough and written anew as PNG, so that no byte of
 * the file reaches a reader.
 */
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { AppError, invalid } from '../../system/errors.ts';
import { KillableThreads } from '../../system/killable-threads.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import { readImageSize } from './size.ts';

export type Logo = { png: Uint8Array; width: number; height: number };

export type LogoReader = {
  /**
   * Returns the logo. `owner` is the tenant, which has one image read at a time; tenants are served round-robin.
   * @throws AppError validation_error for what is no image or too large, unavailable while another image is read
   */
  read(image: Buffer, owner: string): Promise<Logo>;
};

/** Maximum size of the file of an image. Our own limit. */
export const MAX_IMAGE_BYTES = 1024 * 1024;
/** Maximum number of pixels of an image, which take 16 MB while they are decoded, and 100 ms. Our own limit. */
export const MAX_IMAGE_PIXELS = 4_000_000;
/** Maximum time of one image, fifty times what the largest takes. */
const JOB_TIMEOUT_MS = 5_000;
/** Maximum time that an image waits for its thread to start, which takes a quarter of a second. */
const WAIT_TIMEOUT_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Returns the reader. Each image is decoded in a thread of its own, one at a time: the memory that WebAssembly has taken is only freed with its
 * thread, and nothing that a hostile image has left behind meets the next one.
 */
export function createLogoReader({ clock, log }: Pick<System, 'clock' | 'log'>): LogoReader {
  const limiter = new ConcurrencyLimiter({ maxRunning: 1 });
  const owners = new Set<string>();
  const decode = async (image: Buffer, owner: string): Promise<Logo> => {
    const threads = new KillableThreads<Uint8Array, Logo>(clock, {
      module: moduleBeside(import.meta.url, 'logo-thread'),
      threads: 1,
      maxWaiting: 1,
      // No job counts as quick, because the thread ends after it anyway.
      quickJobMs: 0,
      // Heap limit of the thread in MB. The pixels are outside the heap.
      heapMegabytes: 64,
    });
    try {
      const job = { owner, timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };
      const outcome = await threads.run(image, job);
      if (outcome.kind === 'done') return outcome.result;
      const { reason, message } = outcome;
      log.info({ reason, cause: message, tenantId: owner }, 'an image of a logo could not be read');
      throw reason === 'crowded' || reason === 'closed' ? busy() : unreadable();
    } finally {
      await threads.close();
    }
  };
  return {
    async read(image, owner) {
      requireSmall(image);
      if (owners.has(owner)) throw busy();
      owners.add(owner);
      try {
        return await limiter.run(() => decode(image, owner), { owner });
      } finally {
        owners.delete(owner);
      }
    },
  };
}

function requireSmall(image: Buffer): void {
  if (image.length > MAX_IMAGE_BYTES) throw invalid('logo', '`logo` must be at most 1 MiB');
  const size = readImageSize(image);
  if (!size || size.width * size.height === 0) throw unreadable();
  if (size.width * size.height > MAX_IMAGE_PIXELS)
    throw invalid(
      'logo',
      `\`logo\` has ${size.width} × ${size.height} pixels; at most ${MAX_IMAGE_PIXELS} are allowed`,
    );
}

function unreadable(): AppError {
  return invalid('logo', '`logo` must be a PNG, JPEG, GIF or still WebP image that can be read');
}

function busy(): AppError {
  return new AppError('unavailable', 'Another logo is being read', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
